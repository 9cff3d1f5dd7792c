#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/lab/fabric/fabric.h"
#include "tools/lab/fabric/host_placement.h"

namespace outrider::lab {

/// The places of a fabric, of which groups of hosts take some, one group after the other. Equal
/// calls give equal places.
class HostPlaces {
 public:
  /// @param slots in the order of their switches; must outlive this
  explicit HostPlaces(std::span<const FabricSlot> slots);

  [[nodiscard]] std::size_t free() const noexcept { return free_; }
  [[nodiscard]] std::size_t free_at(std::size_t at_switch) const noexcept;

  /// Takes the place of each host of a group. @pre count <= free()
  /// @param seed,group  key of the draws for kRandom
  /// @return indices of slots, host by host
  std::vector<std::size_t> take(HostPlacement placement, std::size_t count, std::uint64_t seed,
                                std::uint32_t group);
  /// Takes the first places at one switch. @pre count <= free_at(at_switch)
  std::vector<std::size_t> take_at(std::size_t at_switch, std::size_t count);

 private:
  struct Leaf {
    std::size_t at_switch = 0;
    std::vector<std::size_t> open;  ///< free slots, the first one last
  };

  std::size_t take_first(Leaf& leaf);

  std::vector<Leaf> leaves_;
  std::size_t free_ = 0;
};

}  // namespace outrider::lab
