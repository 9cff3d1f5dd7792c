#pragma once

#include <cstdint>

#include "trafficgen/hosts/host.h"
#include "trafficgen/workload/job.h"
#include "trafficgen/workload/ring_schedule.h"

namespace outrider {

/// A worker's place in a ring all-reduce: takes chunks from the left neighbour
/// and passes the next ones on to the right one. A step is a part of the worker's push;
/// steps need no order.
class RingMember final {
 public:
  RingMember(Job& job, std::uint32_t index, const RingSchedule& schedule);
  ~RingMember() = default;

  /// The worker's gradients may leave: the first chunk does.
  void on_released(Time now) noexcept;
  /// A step of the left neighbour is there.
  void on_step(std::uint32_t step, Time now) noexcept;
  /// All of them are.
  void on_all_received(const BurstArrival& arrival, Time now) noexcept;
  /// The right neighbour has enough of all that was sent to it.
  void on_all_sent(Time now) noexcept;

 private:
  void begin_burst(Time now) noexcept;
  void send(std::uint32_t step, Time now) noexcept;

  Job& job_;
  std::uint32_t index_;
  RingSchedule schedule_;
  std::uint32_t left_;
  std::uint32_t iteration_ = 0;
  RingProgress progress_;
  bool waits_for_last_burst_ = false;  ///< released, but the last burst is still on its way
};

}  // namespace outrider
