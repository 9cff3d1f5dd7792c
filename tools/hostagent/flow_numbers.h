#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/hostagent/bpf/wire.h"

namespace outrider::agent {

/// Numbers flows by their keys, in order of appearance; a number is never given again.
/// Bounded: a new flow beyond the limit takes the place of the one that was asked for longest
/// ago, and that one gets a new number should it come back. O(limit). Not thread-safe.
class FlowNumbers {
 public:
  /// @param limit flows that are remembered, > 0
  explicit FlowNumbers(std::size_t limit) : limit_(limit) {}

  struct Numbered {
    std::size_t number = 0;
    std::optional<std::size_t> forgotten{};  ///< number of the flow that made room
  };
  Numbered number_of(const AgentFlowKey& flow);
  /// Nothing if it was forgotten.
  [[nodiscard]] std::optional<AgentFlowKey> key(std::size_t number) const;
  /// Numbers that were given so far.
  [[nodiscard]] std::size_t given() const noexcept { return given_; }

 private:
  struct Entry {
    AgentFlowKey flow{};
    std::size_t number = 0;
    std::uint64_t asked = 0;  ///< when, counted in questions
  };

  std::size_t limit_;
  std::vector<Entry> entries_;
  std::size_t given_ = 0;
  std::uint64_t questions_ = 0;
};

}  // namespace outrider::agent
