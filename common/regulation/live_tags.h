#pragma once

#include <array>
#include <cassert>
#include <cstdint>

#include "common/core/flow_key.h"

namespace outrider {

/// Remembers one of 4,096 tags of every flow of a set, so that a flow that is not in the set is
/// mostly known from one bit, also if the set has a thousand. All operations are O(1). Allocates
/// nothing. Not thread-safe.
///
/// Tags are cheap, and anybody can choose flows of one tag. That only makes others ask further:
/// filling the set does the same.
class LiveTags {
 public:
  void add(const FlowKey& flow) noexcept {
    const std::uint64_t tag = tag_of(flow);
    bits_[tag / 64] |= std::uint64_t{1} << (tag % 64);
    ++flows_[tag];
  }
  /// @pre add() was called for it
  void remove(const FlowKey& flow) noexcept {
    const std::uint64_t tag = tag_of(flow);
    assert(flows_[tag] > 0);
    if (--flows_[tag] == 0) bits_[tag / 64] &= ~(std::uint64_t{1} << (tag % 64));
  }
  /// Returns false only if the flow is not in the set.
  [[nodiscard]] bool may_have(const FlowKey& flow) const noexcept {
    const std::uint64_t tag = tag_of(flow);
    return (bits_[tag / 64] >> (tag % 64) & 1) != 0;
  }

 private:
  [[nodiscard]] static std::uint64_t tag_of(const FlowKey& flow) noexcept {
    // Odd constants without structure. The high bits of such a sum depend on all fields.
    const std::uint32_t mixed =
        flow.source_address * 0x9E37'79B1U + flow.destination_address * 0x85EB'CA77U +
        flow.source_port * 0xC2B2'AE3DU + flow.destination_port * 0x27D4'EB2FU;
    return mixed >> (32 - kTagBits);
  }

  static constexpr unsigned kTagBits = 12;
  static constexpr std::size_t kTags = std::size_t{1} << kTagBits;

  std::array<std::uint64_t, kTags / 64> bits_{};  ///< bit t: flows_[t] > 0
  std::array<std::uint32_t, kTags> flows_{};
};

}  // namespace outrider
