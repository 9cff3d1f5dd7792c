#pragma once

#include <cstdint>

#include "trafficgen/workload/exchange/tcp/tcp_ends.h"

namespace outrider::tg {

/// The connection between a worker and a target, with both its ends. One that has ended is followed
/// by another with the worker's next push.
class TcpPair {
 public:
  /// @param context must outlive the pair
  TcpPair(const ExchangeContext& context, std::uint32_t worker, std::uint32_t target)
      : at_worker(context, worker, target), at_target(context, worker, target) {}

  void open(Time now) noexcept;
  /// See Exchange::next_place().
  [[nodiscard]] BurstPlace next_place(BurstDirection direction) noexcept;
  [[nodiscard]] FlowKey flow(BurstDirection direction) const noexcept;
  void begin_push(const BurstLedger& burst, BurstTime idle, Time now) noexcept;
  void hand_over(BurstDirection direction, std::uint32_t part, std::uint64_t bytes,
                 Time now) noexcept;
  void end(BurstDirection direction, Time now) noexcept;
  /// Returns the end that sends in this direction; nullptr between connections.
  [[nodiscard]] TcpConnection* sender(BurstDirection direction) const noexcept {
    return direction == BurstDirection::kPush ? at_worker.connection : at_target.connection;
  }

  TcpNearEnd at_worker;
  TcpFarEnd at_target;

 private:
  [[nodiscard]] Host& sending_host(BurstDirection direction) const noexcept {
    return direction == BurstDirection::kPush ? at_worker.host : at_target.host;
  }
  [[nodiscard]] bool heard(BurstDirection direction, const TcpConnection& sender) const noexcept;
};

}  // namespace outrider::tg
