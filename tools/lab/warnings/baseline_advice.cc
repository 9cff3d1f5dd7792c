#include <algorithm>
#include <string>
#include <vector>

#include "tools/lab/experiment/summary_points.h"
#include "tools/lab/warnings/advice.h"

namespace outrider::lab {

ConfigIssues baseline_advice(const ExperimentFile& e, std::span<const PlannedRow> given) {
  std::vector<PlannedRow> rows(given.begin(), given.end());
  ConfigIssues found, refused;  // make_plan() reports the faults
  require_baselines(e, rows, refused);
  std::vector<Parameters> values;
  values.reserve(rows.size());
  for (const PlannedRow& row : rows) values.push_back(resolved_parameters(e, row.parameters));
  for (std::size_t i = 0; i < rows.size() && refused.empty(); ++i) {
    const bool lent = std::ranges::find(e.lent_arms, rows[i].label) != e.lent_arms.end();
    if (lent || !given[i].against.empty() || rows[i].role != ArmRole::kRemedy) continue;
    const auto fits = [&](std::size_t j) {
      return rows[j].role == ArmRole::kBaseline && rows[j].point == rows[i].point &&
             differences_beside_remedy(values[i], values[j]).empty();
    };
    const PlannedRow* other = nullptr;
    bool taken_fits = false;
    for (std::size_t j = 0; j < rows.size(); ++j) {
      if (!fits(j)) continue;
      if (rows[j].label == rows[i].against) taken_fits = true;
      else if (other == nullptr) other = &rows[j];
    }
    if (other == nullptr || taken_fits) continue;
    found.push_back({"arm \"" + rows[i].label + "\"",
                     "is compared with \"" + rows[i].against +
                         "\", from which it differs in more than its remedy, although \"" +
                         other->label + "\" is all that it is without; set against = \"" +
                         other->label + "\", or \"" + rows[i].against + "\" if that is meant"});
  }
  return found;
}

}  // namespace outrider::lab
