#pragma once

#include <cstdint>
#include <memory>

#include "common/core/random.h"
#include "switch/egress/parts/numbered_packets.h"
#include "switch/egress/queue_part.h"

namespace outrider::sw {

/// Packets of a port that are lost or marked on purpose, at random or by their number. A port that
/// loses all is a link that is down: it loses signals too.
class Impairments final : public QueuePart {
 public:
  /// @param port  of the port, in its random numbers
  Impairments(const SwitchPortConfig& config, std::uint64_t seed, std::uint32_t port)
      : numbered_(config.lose_packets, config.mark_packets),
        random_(seed, port, RandomPurpose::kImpairment) {
    set_loss(config.loss);
  }

  /// Returns whether every packet is lost.
  [[nodiscard]] bool loses_all() const noexcept { return lost_below_ == kAllDraws; }

  [[nodiscard]] Steps steps() const noexcept override {
    return lost_below_ != 0 || numbered_.any() ? Steps{Step::kArrive} : Steps{};
  }
  [[nodiscard]] ArrivalVerdict on_arrival(const Incoming& incoming) noexcept override;
  [[nodiscard]] std::unique_ptr<PartChange> prepare(const PartReload& reload) const override;
  void apply(PartChange* change, const PortQueueConfig& to, Time now) noexcept override;

 private:
  static constexpr std::uint64_t kAllDraws = 1ULL << 32;

  /// @param loss  share of packets that are lost
  void set_loss(double loss) noexcept;

  NumberedPackets numbered_;
  RandomStream random_;
  std::uint64_t lost_below_ = 0;  ///< a packet is lost if its 32-bit draw is below; 0: none is
};

}  // namespace outrider::sw
