#include "tools/lab/import/lossless_settings.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>

namespace outrider::lab {
namespace {

constexpr std::uint64_t kXoffBytes_per_gbit = 5'000;
constexpr std::uint64_t kMarkPackets_per_gbit = 4, kSurePackets_per_gbit = 16;  // of 1 kB
constexpr std::uint64_t kFrame_bytes = 1'514;
constexpr std::uint64_t kBits_per_gbit = 1'000'000'000;

/// Returns what arrives in two delays of the link, and two frames and a pause frame more.
std::uint64_t headroom_of(BitRate rate, Duration delay) {
  const double bits = static_cast<double>(rate.bits_per_second) * 2 * seconds(delay);
  return static_cast<std::uint64_t>(bits / 8) + 2 * kFrame_bytes + 84;
}

}  // namespace

std::string lossless_settings_of(const Fabric& fabric) {
  std::uint64_t headroom_bytes = 0, nic_gbit = 1;
  std::map<std::string_view, std::uint64_t> ports;
  for (const FabricSlot& slot : fabric.slots) {
    headroom_bytes = std::max(headroom_bytes, headroom_of(slot.rate, slot.delay));
    nic_gbit = std::max(nic_gbit, slot.rate.bits_per_second / kBits_per_gbit);
    ++ports[fabric.switches[slot.at_switch].name];
  }
  for (const TrunkEntry& trunk : fabric.trunks) {
    headroom_bytes = std::max(headroom_bytes, headroom_of(trunk.rate, trunk.delay));
    ++ports[trunk.a];
    ++ports[trunk.b];
  }
  std::uint64_t most_ports = 1;
  for (const auto& [name, count] : ports) most_ports = std::max(most_ports, count);
  const std::uint64_t xoff_bytes = nic_gbit * kXoffBytes_per_gbit;
  const std::uint64_t packets = most_ports * (xoff_bytes + headroom_bytes) / kFrame_bytes + 1;
  return "switch.queue.limit_packets = " + std::to_string(packets) +
         "     # holds what all ports may bring\nswitch.queue.lossless.xoff_bytes = " +
         std::to_string(xoff_bytes) +
         "\nswitch.queue.lossless.headroom_bytes = " + std::to_string(headroom_bytes) +
         "\nswitch.marker.kind = \"red\"\nswitch.marker.red = { kmin_packets = " +
         std::to_string(nic_gbit * kMarkPackets_per_gbit) +
         ".0, kmax_packets = " + std::to_string(nic_gbit * kSurePackets_per_gbit) +
         ".0, pmax = 0.2 }\nswitch.marker.not_ect = \"pass\"\n";
}

}  // namespace outrider::lab
