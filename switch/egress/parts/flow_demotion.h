#pragma once

#include <cstdint>
#include <vector>

#include "common/core/clock.h"
#include "common/core/flow_table.h"
#include "common/dpdk/packet/packet.h"
#include "switch/aqm/egress_queue.h"
#include "switch/config/queue_config.h"
#include "switch/report/demotion_counters.h"

namespace outrider::sw {

/// Decides which packets of a queue go to one that is served earlier: the first bytes of every
/// flow, and what has no payload. A flow that has sent more is demoted to its own queue. It begins
/// anew when it has sent nothing for `idle` and none of its packets waits in its own queue. While
/// packets of flows that had no place wait there, a new flow may be one of these, and goes there
/// too. So under strict priority no flow is reordered. A packet that a floor serves may pass the
/// first bytes of its flow, if these still wait.
///
/// The table holds `max_flows`. A flow that finds it full takes the place of one that is idle, of
/// kLookedAt that are looked at, and else stays in its own queue, as without demotion: strangers
/// with many flows take the early service from others' flows for as long as they send, and nothing
/// else. O(1) for each packet; nothing allocates after construction. Not thread-safe: the lcore of
/// the egress port owns it.
///
/// Source: PIAS (Bai et al., "Information-Agnostic Flow Scheduling for Commodity Data Centers",
/// NSDI 2015), with two priorities. Deviations: switches count a flow's bytes here, not its sender;
/// the early queue is that of the bursts.
class FlowDemotion {
 public:
  using Queue = EgressQueue<Packet*>;
  static constexpr std::uint32_t kLookedAt = 8;

  /// @pre config.after_bytes
  explicit FlowDemotion(const DemotionConfig& config);

  /// Decides on a packet that comes to its own queue. Time does not decrease.
  /// @return whether it goes to the earlier queue
  [[nodiscard]] bool goes_early(const FlowKey& flow, std::uint32_t payload_bytes, const Queue& own,
                                Time now) noexcept;

  [[nodiscard]] const DemotionCounters& counters() const noexcept { return counters_; }

 private:
  struct Flow {
    std::uint64_t sent_bytes = 0;
    Time last{};
    std::uint32_t last_own = 0;  ///< number in its own queue of its last packet there
    bool demoted = false;
  };

  /// @param flow  follows it. @return nullptr: there is no place
  Flow* place_for(const FlowKey& flow, const Queue& own, Time now) noexcept;
  [[nodiscard]] bool is_idle(const Flow& flow, const Queue& own, Time now) const noexcept {
    return now - flow.last >= idle_ && !(flow.demoted && own.waits_up_to(flow.last_own));
  }

  std::uint64_t after_bytes_;
  Duration idle_;
  FlowTable<Flow> flows_;
  std::vector<FlowKey> slots_;  ///< the flows of flows_, in the first used_
  std::uint32_t used_ = 0;
  std::uint32_t hand_ = 0;          ///< slot that is looked at next
  std::uint32_t last_no_room_ = 0;  ///< number in its own queue of the last packet without a place
  DemotionCounters counters_{};
};

}  // namespace outrider::sw
