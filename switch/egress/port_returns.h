#pragma once

#include <algorithm>
#include <optional>

#include "common/core/clock.h"
#include "common/dpdk/packet/packet.h"
#include "switch/egress/fixed_array.h"
#include "switch/egress/port_queue.h"
#include "switch/egress/port_transmitter.h"

namespace outrider::sw {

/// The packets of the other direction, which arrive at a port: the data that they acknowledge may
/// have left through it, so parts of its queues see them before any port sends them.
///
/// Not thread-safe: the lcore of the port owns it.
class PortReturns {
 public:
  /// @param queues  of the port, with the parts that their configuration asks for
  PortReturns(FixedArray<PortQueue>& queues, PortTransmitter& transmitter)
      : queues_(queues),
        transmitter_(transmitter),
        concern_(std::ranges::any_of(
            queues, [](const PortQueue& queue) { return queue.parts().act_at(Step::kReturn); })) {}

  /// Returns whether they concern a part. Fixed after start-up.
  [[nodiscard]] bool concern() const noexcept { return concern_; }
  /// Shows a packet that arrived at the port, parsed and classified. The caller keeps it.
  void show(Packet& packet, Time now) noexcept {
    if (!concern_) [[likely]]
      return;
    transmitter_.serve_until(now);
    for (auto& queue : queues_)
      queue.parts().any(Step::kReturn,
                        [&](QueuePart& part) { return part.on_return(packet, now); });
  }
  /// Returns how long before a burst of that flow, which leaves through the port, its START should
  /// leave: the longest of what the queues have measured.
  [[nodiscard]] std::optional<Duration> lead_for(const FlowKey& flow, Time now) noexcept {
    std::optional<Duration> longest;
    for (auto& queue : queues_)
      queue.parts().each(Step::kReturn, [&](QueuePart& part) {
        if (const auto lead = part.lead_for(flow, now))
          longest = std::max(longest.value_or(*lead), *lead);
      });
    return longest;
  }

 private:
  FixedArray<PortQueue>& queues_;
  PortTransmitter& transmitter_;
  bool concern_;
};

}  // namespace outrider::sw
