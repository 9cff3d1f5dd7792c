#pragma once

#include <array>
#include <cassert>
#include <cstdint>

#include "common/core/flow_key.h"

namespace outrider {

/// Remembers one of 256 tags of every flow of a set, so that a flow that is not in the set is
/// mostly known from one bit. All operations are O(1). Allocates nothing. Not thread-safe.
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
    return hash_of(flow) >> 56;
  }

  std::array<std::uint64_t, 4> bits_{};  ///< bit t: flows_[t] > 0
  std::array<std::uint32_t, 256> flows_{};
};

}  // namespace outrider
