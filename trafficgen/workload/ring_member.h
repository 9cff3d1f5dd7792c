#pragma once

#include <cstdint>

#include "trafficgen/hosts/host.h"
#include "trafficgen/workload/job.h"
#include "trafficgen/workload/ring_schedule.h"

namespace outrider {

/// A worker's place in a ring all-reduce: takes chunks from the left neighbour
/// and has the worker pass the next ones on. One connection to the right
/// neighbour is kept for the whole job, so that steps arrive in order. Over the
/// bounded-loss transport each step is a tensor of the burst, and they need no order.
class RingMember final : private Acceptor, private ConnectionListener {
 public:
  RingMember(Job& job, std::uint32_t index, Host& host, const RingSchedule& schedule);
  ~RingMember() = default;

  void start();
  /// The worker's gradients may leave: the first chunk does.
  void on_released(Time now) noexcept;
  /// Over the bounded-loss transport: enough of a step is there.
  void on_step(std::uint32_t step, Time now) noexcept { take(step, now); }
  /// The same: the right neighbour has enough of all that was sent to it.
  void on_all_sent(Time now) noexcept;

 private:
  Offer accept(const FlowKey& flow) noexcept override;
  void on_accepted(TcpConnection& connection) noexcept override;
  void on_established(TcpConnection&, Time) noexcept override {}
  void on_delivered(TcpConnection& c, Time now) noexcept override;
  void on_closed(TcpConnection& c, Time now) noexcept override;
  void begin_burst(Time now) noexcept;
  void take(std::uint32_t step, Time now) noexcept;
  void send(std::uint32_t step, Time now) noexcept;

  Job& job_;
  std::uint32_t index_;
  Host& host_;
  RingSchedule schedule_;
  std::uint32_t left_;
  TcpConnection* connection_ = nullptr;  ///< from the left neighbour
  std::uint64_t taken_ = 0;              ///< bytes of it that are of steps taken note of
  std::uint32_t iteration_ = 0;
  RingProgress progress_;
  bool waits_for_last_burst_ = false;  ///< released, but the last burst is still on its way
};

}  // namespace outrider
