#include "common/config/process_checks.h"

#include <algorithm>

namespace outrider {
namespace {

/// Returns whether the text is a PCI address: "0000:3b:00.0" or "3b:00.0", either case.
bool is_pci_address(std::string_view text) noexcept {
  constexpr std::string_view kLong = "hhhh:hh:hh.h";
  const std::string_view pattern = text.size() == kLong.size() ? kLong : kLong.substr(5);
  return std::ranges::equal(text, pattern, [](char c, char p) {
    const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    return p == 'h' ? hex : c == p;
  });
}

}  // namespace

void check_device(const Checks& at, std::string_view device) {
  at.require(
      is_vdev(device) || is_pci_address(device), "device", Checks::quoted(device),
      R"(must be a PCI address such as "0000:3b:00.0" or a vdev such as "net_tap0,iface=t0")");
}

}  // namespace outrider
