#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/core/traffic_class.h"

namespace outrider {

/// Visits the counts of a record, of its bases and of the records within it, by their rows. The
/// record has only counts.
template <class Count, class Visit>
class CountVisitor {
 public:
  explicit CountVisitor(Visit visit) : visit_(visit) {}

  void value(const char*, Count& v) { visit_(v); }
  template <class T>
  void value(const char* name, T& part) {
    if constexpr (requires(CountVisitor & v) { fields(v, part); }) fields(*this, part);
    else if constexpr (requires { part.values; }) value(name, part.values);
    else
      for (auto& v : part) value(name, v);
  }

 private:
  Visit visit_;
};

/// Adds each count of `from` to the same one of `to`. @pre it has at most 512
template <class R>
void add_fields(R& to, const R& from) noexcept {
  std::array<std::uint64_t*, 512> sums;
  std::size_t size = 0;
  const auto note = [&](std::uint64_t& v) {
    sums.at(size++) = &v;  // in noexcept: more end the program
  };
  std::size_t next = 0;
  const auto add = [&](const std::uint64_t& v) { *sums[next++] += v; };
  CountVisitor<std::uint64_t, decltype(note)> noted(note);
  CountVisitor<const std::uint64_t, decltype(add)> added(add);
  fields(noted, to);
  fields(added, from);
}

}  // namespace outrider
