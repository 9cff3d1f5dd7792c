#pragma once

#include <memory>

#include "switch/egress/parts/pacing_queue.h"
#include "switch/egress/port_queue.h"
#include "switch/egress/queue_part.h"

namespace outrider::sw {

/// Keeps background before a regulated queue, as a PacingQueue says, in the modes that pace. It
/// exists at every queue, as a reload may begin to pace; else it acts at no step.
///
/// Acknowledgments have the floor first: the flows that wait for them send the other way, where
/// this queue's burst is not.
class PacedBackground final : public QueuePart, public PacketKeeper {
 public:
  /// @param rate  of the port. @param queue must outlive it
  PacedBackground(const PortQueueConfig& config, BitRate rate, PortQueue& queue);

  [[nodiscard]] Steps steps() const noexcept override {
    return pacing_ != nullptr ? Steps{Step::kRoom} : Steps{};
  }
  [[nodiscard]] PacketKeeper* keeper() noexcept override {
    return pacing_ != nullptr ? this : nullptr;
  }
  // The following are called only while it is the queue's keeper.
  [[nodiscard]] bool keep(Packet* packet, Time now) noexcept override;
  void let_in(Time now) noexcept override {
    if (!pacing_->empty()) let_in_below(queue_.regulation().threshold(now), now);
  }
  [[nodiscard]] Occupancy kept() const noexcept override {
    return {pacing_->packets(), pacing_->bytes()};
  }
  [[nodiscard]] Item take_out() noexcept override {
    return pacing_->empty() ? Item{} : pacing_->push_out();
  }
  [[nodiscard]] Item give_up(const PacketMeta& needs_room) noexcept override;

  void flush() noexcept override;
  void count(QueueCounts& to, std::size_t queue, Time now) const override;
  [[nodiscard]] std::unique_ptr<PartChange> prepare(const PartReload& reload) const override;
  void apply(PartChange* change, const PortQueueConfig& to, Time now) noexcept override;

 private:
  void let_in_below(std::optional<std::uint16_t> target, Time now) noexcept;

  PortQueue& queue_;
  std::unique_ptr<PacingQueue> pacing_;  ///< only if the mode paces
  PaceCounters ended_{};                 ///< while pacing_ is nullptr: counters of the last one
};

}  // namespace outrider::sw
