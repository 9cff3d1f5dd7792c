#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/core/traffic_class.h"

namespace outrider {

/// Collects pointers to the counts of a record, by its rows. The record has only counts.
template <class Count>
class CountCollector {
 public:
  std::vector<Count*> counts;

  void value(const char*, Count& v) { counts.push_back(&v); }
  template <class T>
  void value(const char* name, T& list) {
    for (auto& v : elements(list)) value(name, v);
  }

 private:
  template <class T>
  static auto& elements(T& list) {
    if constexpr (requires { list.values; }) return list.values;
    else return list;
  }
};

/// Adds each count of `from` to the same one of `to`. Allocates: not for the packet path.
template <class R>
void add_fields(R& to, const R& from) {
  CountCollector<std::uint64_t> sums;
  CountCollector<const std::uint64_t> added;
  fields(sums, to);
  fields(added, from);
  for (std::size_t i = 0; i < sums.counts.size(); ++i) *sums.counts[i] += *added.counts[i];
}

}  // namespace outrider
