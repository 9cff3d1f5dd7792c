#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/hostagent/bpf/wire.h"

namespace outrider::agent {

/// Numbers flows by their keys in order of appearance. No number is used twice. Beyond the
/// limit a new flow replaces the least recently used one, which gets a new number if it comes
/// back. O(limit). Not thread-safe.
class FlowNumbers {
 public:
  /// @param limit  most flows that are remembered, > 0
  explicit FlowNumbers(std::size_t limit) : limit_(limit) {}

  struct Numbered {
    std::size_t number = 0;
    std::optional<std::size_t> forgotten{};  ///< number of the flow that made room
  };
  /// Returns the number of a flow, and gives it one if it is new or was forgotten.
  Numbered number_of(const AgentFlowKey& flow);
  /// Returns the key of a flow, or nothing if it was forgotten.
  [[nodiscard]] std::optional<AgentFlowKey> key(std::size_t number) const;
  /// Returns how many numbers were given so far.
  [[nodiscard]] std::size_t given() const noexcept { return given_; }

 private:
  struct Entry {
    AgentFlowKey flow{};
    std::size_t number = 0;
    std::uint64_t asked = 0;  ///< value of questions_ when its number was asked for last
  };

  std::size_t limit_;
  std::vector<Entry> entries_;
  std::size_t given_ = 0;
  std::uint64_t questions_ = 0;  ///< calls of number_of()
};

}  // namespace outrider::agent
