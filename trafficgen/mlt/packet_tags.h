#pragma once

#include <array>
#include <cstdint>

#include "common/core/burst_identity.h"
#include "common/core/ecn.h"
#include "common/core/random.h"
#include "trafficgen/mlt/mlt_tensor.h"

namespace outrider::tg {

/// Marks packets of gradients for the switches: with the DSCP of their layer's class, and with ECT
/// if they must not be dropped early. A packet is *droppable*, Not-ECT, if its layer is a front
/// layer or if its gradients are small: if the rank of their mean magnitude within the tensor is
/// below `small_share`. Where no training takes place the rank is drawn for each burst, uniform in
/// [0, 1) as ranks are; see MagnitudeRanks for computed ones. A resent packet keeps its rank.
///
/// Source: gradient-aware dropping of DLCP (arXiv 2008.08445) and MLT (NSDI 2024), whose cut-off is
/// not in what we know of them. Deviation of drawn ranks: real magnitudes of neighbouring packets
/// are alike, drawn ones are not.
class PacketTags {
 public:
  /// @param small_share in [0, 1]
  PacketTags(bool ecn, double small_share, std::uint64_t seed) noexcept
      : ecn_(ecn),
        small_draws_(static_cast<std::uint64_t>(small_share * 0x1p32)),
        key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)} {}

  /// Returns true if ranks matter to the tensor's packets.
  [[nodiscard]] bool ranked(const MltTensor& tensor) const noexcept {
    return ecn_ && !tensor.droppable && small_draws_ != 0;
  }
  /// @param rank called without arguments if it matters; returns units of 2^-32
  template <class F>
  [[nodiscard]] bool droppable(const MltTensor& tensor, F&& rank) const noexcept {
    return ranked(tensor) ? rank() < small_draws_ : !ecn_ || tensor.droppable;
  }
  /// Returns the whole TOS byte: DSCP and ECN field.
  template <class F>
  [[nodiscard]] std::uint8_t tos(const MltTensor& tensor, F&& rank) const noexcept {
    const Ecn ecn = droppable(tensor, rank) ? Ecn::kNotEct : Ecn::kEct0;
    return static_cast<std::uint8_t>(tensor.dscp << 2 | static_cast<std::uint8_t>(ecn));
  }
  /// Returns the byte of a PROBE or an answer: ECT, because its early drop would cost an RTO.
  [[nodiscard]] std::uint8_t control_tos(std::uint8_t dscp) const noexcept {
    const Ecn ecn = ecn_ ? Ecn::kEct0 : Ecn::kNotEct;
    return static_cast<std::uint8_t>(dscp << 2 | static_cast<std::uint8_t>(ecn));
  }

  /// Returns the drawn rank of a packet in units of 2^-32.
  [[nodiscard]] std::uint32_t drawn_rank(std::uint32_t index, std::uint32_t packet,
                                         const BurstIdentity& burst) const noexcept {
    return draw(index, packet, burst)[0];
  }
  /// Returns a draw that is independent of the rank, by which packets are put into random order.
  [[nodiscard]] std::uint32_t drawn_turn(std::uint32_t index, std::uint32_t packet,
                                         const BurstIdentity& burst) const noexcept {
    return draw(index, packet, burst)[1];
  }

 private:
  [[nodiscard]] std::array<std::uint32_t, 4> draw(std::uint32_t index, std::uint32_t packet,
                                                  const BurstIdentity& burst) const noexcept {
    const std::uint32_t whose = std::uint32_t{burst.job} << 16 | std::uint32_t{burst.worker} << 1 |
                                (burst.direction == BurstDirection::kPull ? 1U : 0U);
    const auto purpose = static_cast<std::uint32_t>(RandomPurpose::kMagnitude);
    return philox4x32({packet, index, burst.iteration, whose}, {key_[0] ^ purpose << 24, key_[1]});
  }

  bool ecn_;
  std::uint64_t small_draws_;
  std::array<std::uint32_t, 2> key_;
};

}  // namespace outrider::tg
