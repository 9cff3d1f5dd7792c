#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <vector>

#include "common/core/clock.h"
#include "common/core/traffic_class.h"

namespace outrider {

/// Records for how long a transmitter has served each owner. Two readings tell, to the
/// nanosecond, what a packet that waited between them waited for. The packet in service
/// counts up to the instant of the reading.
///
/// Owners are numbered from 1, each a worker of a job; their packets are DDL packets. Owner 0
/// stands for none. O(1), nothing allocates after construction, not thread-safe.
class ServiceClock {
 public:
  struct Reading {
    Duration background{};
    Duration signal{};
    Duration ddl{};  ///< includes `own`
    Duration own{};  ///< of the owner asked for
  };

  /// @param owners the highest owner number
  explicit ServiceClock(std::uint32_t owners) : by_owner_(owners + 1) {}

  /// Records that a packet occupies the transmitter during [start, finish).
  /// @pre start is not before the last finish, owner <= the highest
  void on_service(TrafficClass c, std::uint32_t owner, Time start, Time finish) noexcept {
    assert(start >= last_finish_ && finish >= start && owner < by_owner_.size());
    last_class_ = owner != 0 ? TrafficClass::kDdl : c;
    last_owner_ = owner;
    last_start_ = start;
    last_finish_ = finish;
    by_class_[last_class_] += finish - start;
    by_owner_[owner] += finish - start;
  }

  /// Returns the service up to `at`. @pre `at` is not before the start of the last but one service
  [[nodiscard]] Reading read(std::uint32_t owner, Time at) const noexcept {
    PerClass<Duration> by_class = by_class_;
    Duration own = by_owner_[owner];
    if (at < last_finish_) {
      const Duration ahead = last_finish_ - std::max(at, last_start_);
      by_class[last_class_] -= ahead;
      if (owner == last_owner_) own -= ahead;
    }
    return {.background = by_class[TrafficClass::kBackground],
            .signal = by_class[TrafficClass::kSignal],
            .ddl = by_class[TrafficClass::kDdl],
            .own = own};
  }

 private:
  PerClass<Duration> by_class_{};
  std::vector<Duration> by_owner_;
  Time last_start_{}, last_finish_{};
  TrafficClass last_class_ = TrafficClass::kBackground;
  std::uint32_t last_owner_ = 0;
};

}  // namespace outrider
