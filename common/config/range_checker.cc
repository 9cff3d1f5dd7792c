#include "common/config/range_checker.h"

namespace outrider {

void RangeChecker::nested(const SettingTable& table) {
  if (table.only_defaults) return;
  RangeChecker inner(at_.below(table.key));
  table.describe_in(inner, table.field);
}

void RangeChecker::list(const SettingList& list) {
  for (std::size_t i = 0; i < list.size(list.list); ++i) {
    RangeChecker inner(at_.below(list.key, i));
    list.describe_at(inner, list.list, i);
  }
}

}  // namespace outrider
