#pragma once

#include "switch/egress/parts/queue_window.h"
#include "switch/egress/port_queue.h"
#include "switch/egress/queue_part.h"

namespace outrider::sw {

/// Holds the windows of background flows of a queue while bursts are announced, in the modes that
/// do: shows a QueueWindow the queue's packets and what comes back for them, and tells it of
/// bursts. If `lead` is "auto" it measures how long before a burst regulation has to begin.
class HeldWindows final : public QueuePart {
 public:
  /// @param port  of the queue. @param queue must outlive it, and has a regulator
  HeldWindows(const PortQueueConfig& config, const SwitchPortConfig& port, PortQueue& queue);

  [[nodiscard]] Steps steps() const noexcept override {
    return {Step::kAdmit, Step::kMark, Step::kStart, Step::kReturn};
  }
  bool on_admission(Packet& packet, Time now) noexcept override;
  [[nodiscard]] bool spares(const PacketMeta& m, MarkReason reason) noexcept override;
  [[nodiscard]] bool takes_start(const StartSignal& start, Time now) noexcept override;
  void on_armed(const StartSignal& start, Time now) noexcept override;
  bool on_return(Packet& packet, Time now) noexcept override;
  [[nodiscard]] std::optional<Duration> lead_for(const FlowKey& flow, Time now) noexcept override;
  void on_elsewhere(Packet& packet, bool same_port, Time now) noexcept override;
  void count(QueueCounts& to, std::size_t queue, Time now) const override;
  void apply(PartChange* change, const PortQueueConfig& to, Time now) noexcept override;

 private:
  [[nodiscard]] Occupancy waiting() const noexcept {
    return {queue_.fifo().occupancy_packets(), queue_.fifo().occupancy_bytes()};
  }
  /// Returns the regulator's threshold, after telling the window which bursts' regulation has begun
  /// by `now`.
  [[nodiscard]] const std::optional<std::uint16_t>& threshold(Time now) noexcept {
    const auto& h = regulator_.threshold(now);
    if (regulator_.has_untold()) [[unlikely]]
      on_begun(now);
    return h;
  }
  [[gnu::noinline]] void on_begun(Time now) noexcept;
  void begin(const Regulator::BegunBurst& burst, Time now) noexcept;
  void measure_lead(std::uint16_t h_packets, Time now) noexcept;
  void follow(const PortQueueConfig& config) noexcept;

  PortQueue& queue_;
  Regulator& regulator_;
  QueueWindow window_;
  bool spares_held_ = false;  ///< h marks only flows that cannot be held
  bool measures_lead_ = false;
  double standing_packets_ = 0;  ///< for measure_lead()
};

}  // namespace outrider::sw
