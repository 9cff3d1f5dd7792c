#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace outrider {

/// Which losses before the program a driver counts. Ethdev reports 0 for those that it does not.
struct CountedLosses {
  bool missed = false;  ///< no free descriptor (imissed)
  bool nombuf = false;  ///< no packet buffer (rx_nombuf)
  bool errors = false;  ///< damaged frames (ierrors)
  bool operator==(const CountedLosses&) const = default;
};

/// Returns what a driver of DPDK 22.11 to 24.11 counts. A loss that cannot occur counts: nothing is
/// damaged without a wire, and a ring whose writer waits misses nothing. Of a driver that is not
/// listed nothing is known. Pure.
[[nodiscard]] constexpr CountedLosses counted_losses(std::string_view driver) noexcept {
  struct Row {
    std::string_view driver;
    CountedLosses counted;
  };
  constexpr CountedLosses kAll{true, true, true};
  constexpr std::array kRows{
      Row{"mlx5_pci", kAll},
      Row{"net_af_packet", kAll},  // missed: by the kernel, see PacketSocketDrops
      Row{"net_af_xdp", {false, true, true}},
      Row{"net_bnxt", kAll},
      Row{"net_e1000_em", kAll},
      Row{"net_e1000_igb", kAll},
      Row{"net_ena", kAll},
      Row{"net_i40e", kAll},
      Row{"net_iavf", {true, true, false}},  // the physical function sees damaged frames
      Row{"net_ice", kAll},
      Row{"net_igc", kAll},
      Row{"net_ixgbe", kAll},
      Row{"net_memif", kAll},
      Row{"net_null", kAll},
      Row{"net_pcap", kAll},
      Row{"net_ring", kAll},
      Row{"net_tap", {false, true, true}},  // the kernel drops at the interface
      Row{"net_vhost", kAll},
      Row{"net_virtio", {false, true, true}},  // the host drops
      Row{"net_virtio_user", {false, true, true}},
  };
  const auto* const row = std::ranges::find(kRows, driver, &Row::driver);
  return row == kRows.end() ? CountedLosses{} : row->counted;
}

/// Returns a counter of a device; nothing if it is not counted. A driver that has counted something
/// counts, whatever is known of it.
[[nodiscard]] constexpr std::optional<std::uint64_t> counter_if(bool counted,
                                                                std::uint64_t value) noexcept {
  return counted || value != 0 ? std::optional(value) : std::nullopt;
}

}  // namespace outrider
