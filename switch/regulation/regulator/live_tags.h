#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/core/flow_key.h"

namespace outrider {

/// Remembers a tag of every flow of a set, so that a flow that is not in the set is mostly known
/// from one bit. There are four tags or more for each flow that the set can have. All operations
/// are O(1). Allocates only at construction. Not thread-safe.
///
/// Tags are cheap, and anybody can choose flows of one tag. That only makes others ask further:
/// filling the set does the same.
class LiveTags {
 public:
  /// @param flows  that are in the set at once, > 0
  explicit LiveTags(std::uint32_t flows)
      : shift_(32 - static_cast<int>(std::bit_width(tags_for(flows) - 1))),
        bits_(tags_for(flows) / 64),
        flows_(tags_for(flows)) {}

  /// Memory of one flow, if their number is a power of two.
  static constexpr std::size_t bytes_per_flow() noexcept {
    return kTagsPerFlow * sizeof(std::uint32_t) + (kTagsPerFlow + 7) / 8;
  }

  void add(const FlowKey& flow) noexcept {
    const std::uint32_t tag = tag_of(flow);
    bits_[tag / 64] |= std::uint64_t{1} << (tag % 64);
    ++flows_[tag];
  }
  /// @pre add() was called for it
  void remove(const FlowKey& flow) noexcept {
    const std::uint32_t tag = tag_of(flow);
    assert(flows_[tag] > 0);
    if (--flows_[tag] == 0) bits_[tag / 64] &= ~(std::uint64_t{1} << (tag % 64));
  }
  /// Returns false only if the flow is not in the set.
  [[nodiscard]] bool may_have(const FlowKey& flow) const noexcept {
    const std::uint32_t tag = tag_of(flow);
    return (bits_[tag / 64] >> (tag % 64) & 1) != 0;
  }

 private:
  [[nodiscard]] static std::uint32_t tags_for(std::uint32_t flows) noexcept {
    return std::bit_ceil(std::max<std::uint32_t>(kTagsPerFlow * flows, 64));
  }
  [[nodiscard]] std::uint32_t tag_of(const FlowKey& flow) const noexcept {
    // Odd constants without structure. The high bits of such a sum depend on all fields.
    const std::uint32_t mixed =
        flow.source_address * 0x9E37'79B1U + flow.destination_address * 0x85EB'CA77U +
        flow.source_port * 0xC2B2'AE3DU + flow.destination_port * 0x27D4'EB2FU;
    return mixed >> shift_;
  }

  static constexpr std::uint32_t kTagsPerFlow = 4;

  int shift_;                         ///< leaves the bits of a tag
  std::vector<std::uint64_t> bits_;   ///< bit t: flows_[t] > 0
  std::vector<std::uint32_t> flows_;  ///< [tags] flows of the set that have it
};

}  // namespace outrider
