#include "common/config/process_checks.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <string>
#include <utility>

namespace outrider {
namespace {

constexpr std::uint64_t kMaxLcore = 1023;
constexpr std::uint16_t kMinDescriptors = 32;

/// "0000:3b:00.0" or "3b:00.0", either case.
bool is_pci_address(std::string_view text) noexcept {
  constexpr std::string_view kLong = "hhhh:hh:hh.h";
  const std::string_view pattern = text.size() == kLong.size() ? kLong : kLong.substr(5);
  return std::ranges::equal(text, pattern, [](char c, char p) {
    const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    return p == 'h' ? hex : c == p;
  });
}

}  // namespace

void check_device(const Checks& at, std::string_view device, std::uint16_t rx_descriptors,
                  std::uint16_t tx_descriptors) {
  const bool vdev = device.starts_with("net_") || device.starts_with("eth_");
  at.require(
      vdev || is_pci_address(device), "device", Checks::quoted(device),
      R"(must be a PCI address such as "0000:3b:00.0" or a vdev such as "net_tap0,iface=t0")");
  for (const auto& [key, descriptors] :
       {std::pair{"rx_descriptors", rx_descriptors}, {"tx_descriptors", tx_descriptors}})
    at.require(std::has_single_bit(descriptors) && descriptors >= kMinDescriptors, key,
               std::to_string(descriptors), "must be a power of two, 32 to 32768");
}

void check_loop(const Checks& root, std::uint32_t lcore, Duration bin, std::uint32_t max_bins) {
  root.in_range("lcore", lcore, 0, kMaxLcore);
  root.require(bin >= std::chrono::microseconds(1), "bin", format_duration(bin),
               "must be at least 1us");
  root.in_range("max_bins", max_bins, 1, kMaxRecords);
}

}  // namespace outrider
