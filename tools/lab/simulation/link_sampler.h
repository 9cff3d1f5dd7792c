#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/core/clock.h"
#include "switch/config/config.h"
#include "switch/egress/egress_port.h"
#include "switch/runtime/network.h"
#include "tools/lab/simulation/link_report.h"

namespace outrider::lab {

/// Counts at the ends of equal slices of a run whose length is not known. When there are as many
/// slices as it keeps, each two become one, and further ones are twice as long: so there are
/// always between half of `most` and `most`, unless the run is too short.
class BoundedSlices {
 public:
  /// @param slice  length of the first slices, > 0. @param most  slices kept, even, > 0
  BoundedSlices(Duration slice, std::size_t columns, std::size_t most);

  /// Returns the end of the slice under way.
  [[nodiscard]] Time end() const noexcept { return end_; }
  /// Ends the slice. @param counts [columns] up to end()
  void add(std::span<const std::uint64_t> counts);
  [[nodiscard]] Duration slice() const noexcept { return slice_; }
  /// Returns the counts at the end of each slice. @return [slices][columns]
  [[nodiscard]] const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }

 private:
  Duration slice_;
  Time end_;
  std::size_t columns_;
  std::size_t most_;
  std::size_t slices_ = 0;
  std::vector<std::uint64_t> counts_;
};

/// Notes at the ends of slices what each port of a network has sent. It reads counters that ports
/// keep anyway, between two slices of virtual time, so no packet costs more and no event moves.
/// Memory: kMostSlices x 8 bytes a port.
class LinkSampler {
 public:
  static constexpr std::size_t kMostSlices = 128;

  /// @param network  made of `config`, or of a share of it; must outlive this
  /// @param slice  > 0; later ones are its multiples
  LinkSampler(const sw::SwitchProcessConfig& config, const sw::SwitchNetwork& network,
              Duration slice);

  /// Call as soon as the network has run up to a multiple of the slice, with every multiple.
  void end_slice(Time now);
  /// Returns what was noted, with a last slice that ends now.
  [[nodiscard]] LinkSlices slices(Time now) const;

 private:
  struct Port {
    const sw::EgressPort* port = nullptr;
    std::uint64_t overhead_bytes = 0;  ///< of each packet, as the port's rate counts it
  };
  [[nodiscard]] std::vector<std::uint64_t> sent() const;

  std::vector<Port> ports_;
  BoundedSlices slices_;
  Time last_{};  ///< end of the latest slice
};

/// Joins what parts of a network have noted of their own switches to what the whole would have.
/// @param of_switch  [switches] the part that has it. @param parts  with equal slices
/// @throws std::runtime_error if a part lacks slices or ports
LinkSlices joined_slices(const sw::SwitchProcessConfig& config,
                         std::span<const std::uint32_t> of_switch,
                         std::span<const LinkSlices* const> parts);

}  // namespace outrider::lab
