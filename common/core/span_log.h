#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "common/core/clock.h"

namespace outrider {

/// The time during which something lasted, in ns since the start of the run.
struct TimeSpan {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  bool operator==(const TimeSpan&) const = default;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, TimeSpan>
void fields(V& v, R& r) {
  v.value("begin_ns", r.begin_ns);
  v.value("end_ns", r.end_ns);
}

/// Keeps when something lasted: the first spans that there is room for. It has none until
/// make_room(), which alone allocates. Not thread-safe.
class SpanLog {
 public:
  void make_room(std::size_t most) {
    spans_.reserve(most);
    most_ = most;
  }

  void add(Time begin, Time end) noexcept {
    if (spans_.size() < most_)
      spans_.push_back({begin.time_since_epoch().count(), end.time_since_epoch().count()});
  }
  /// Returns the spans, and last the one that is not over. @param open_since  when it began
  [[nodiscard]] std::vector<TimeSpan> until(Time now, std::optional<Time> open_since) const {
    auto all = spans_;
    if (open_since && most_ > 0 && *open_since <= now)
      all.push_back({open_since->time_since_epoch().count(), now.time_since_epoch().count()});
    return all;
  }

 private:
  std::vector<TimeSpan> spans_{};
  std::size_t most_ = 0;
};

}  // namespace outrider
