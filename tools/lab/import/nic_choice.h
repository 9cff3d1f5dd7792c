#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/lab/fabric/fabric.h"

namespace outrider::lab {

/// Chooses the NICs of flows between hosts that may have several, so that each flow has one NIC at
/// either end.
///
/// The pairs of NICs with the fewest links between them serve two hosts: those at the same switch
/// if there are any, as on rails. The flows from one host to another take these pairs in turn. They
/// begin at the pair whose number is the sum of the two hosts' numbers, so that a host that sends
/// one flow to each of the others uses all of its NICs. Of the pairs, those of NICs with the same
/// number come first.
class NicChoice {
 public:
  /// @param fabric  outlives this
  explicit NicChoice(const Fabric& fabric);

  [[nodiscard]] bool is_host(std::size_t node) const { return slots_.contains(node); }

  /// Returns the slots of the next flow from one host to another, by their nodes; nothing if no
  /// path leads from any NIC of the one to one of the other.
  std::optional<std::pair<std::size_t, std::size_t>> next(std::size_t from, std::size_t to);

 private:
  static constexpr std::uint16_t kNoPath = 0xffff;

  const std::vector<std::uint16_t>& distances(std::size_t from_switch);

  const Fabric& fabric_;
  std::vector<std::vector<std::size_t>> neighbours_;         ///< [switch] in Fabric::switches
  std::map<std::size_t, std::vector<std::size_t>> slots_{};  ///< [node] by number of the NIC
  /// Links from a switch to [switch].
  std::map<std::size_t, std::vector<std::uint16_t>> distances_{};
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> seen_{};  ///< flows of two hosts
};

}  // namespace outrider::lab
