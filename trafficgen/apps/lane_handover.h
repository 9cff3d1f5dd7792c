#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "common/core/batch.h"
#include "common/dpdk/packet/handover_ring.h"
#include "common/runtime/backpressure.h"
#include "common/runtime/node.h"
#include "trafficgen/config/lcore_plan.h"

namespace outrider::tg {

/// Packets on their way from one lane to another, in their order. What the ring does not take is
/// held and offered again with each flush, while backpressure().full tells the hosts that send by
/// it to wait. What nobody can tell to wait is dropped once kHandoverPackets are held.
///
/// Identity: received == taken + dropped + resident. take() is the other lane's, all else the lane
/// that owns the object.
class LaneHandover final : public Node {
 public:
  /// @param name unique in the process, at most 25 characters
  /// @throws DpdkError
  explicit LaneHandover(const std::string& name) : ring_(name, kHandoverPackets) {}
  LaneHandover(const LaneHandover&) = delete;
  LaneHandover& operator=(const LaneHandover&) = delete;
  /// Frees what nobody took. @pre the other lane has ended
  ~LaneHandover();

  /// Takes ownership until the next flush. @param device by which the packet came, or will leave
  void receive(std::uint32_t device, Packet* packet, Time now) noexcept override;
  /// Puts into the ring what it takes.
  void flush() noexcept;

  /// Calls `use(device, packet)` for at most two batches, which it then owns.
  template <class Use>
  void take(Use&& use) noexcept {
    std::array<Packet*, std::size_t{2} * kBatchPackets> packets;
    const std::uint32_t taken = ring_.take(packets);
    for (std::uint32_t i = 0; i < taken; ++i) rte_prefetch0(&meta(*packets[i]));
    for (std::uint32_t i = 0; i < taken; ++i) use(meta(*packets[i]).egress_port, packets[i]);
  }

  /// full: the last flush held packets back.
  [[nodiscard]] const Backpressure& backpressure() const noexcept { return backpressure_; }
  /// Returns the packets that were dropped as DropReason::kHandoverFull.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  /// Returns the packets that are held or in the ring; exact only while neither lane runs.
  [[nodiscard]] std::uint64_t resident() const noexcept { return held_ + ring_.size(); }

 private:
  HandoverRing<Packet*> ring_;
  Packet* first_ = nullptr;  ///< of those held, chained through their meta data
  Packet* last_ = nullptr;
  std::uint64_t held_ = 0;
  std::uint64_t dropped_ = 0;
  Backpressure backpressure_;
};

}  // namespace outrider::tg
