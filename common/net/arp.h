#pragma once

#include "common/net/headers.h"

namespace outrider {

inline constexpr std::uint16_t kEtherTypeArp = 0x0806;
inline constexpr MacAddress kBroadcastMac{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

/// An ARP packet (RFC 826) for IPv4 over Ethernet.
struct ArpPacket {
  static constexpr std::uint16_t kRequest = 1;
  static constexpr std::uint16_t kReply = 2;

  Be16 hardware_type;  ///< 1: Ethernet
  Be16 protocol_type;  ///< an EtherType
  std::uint8_t hardware_bytes;
  std::uint8_t protocol_bytes;
  Be16 operation;
  MacAddress sender_mac;
  Be32 sender_address;
  MacAddress target_mac;
  Be32 target_address;

  [[nodiscard]] bool is_ipv4_over_ethernet() const noexcept {
    return hardware_type.get() == 1 && protocol_type.get() == kEtherTypeIpv4 &&
           hardware_bytes == sizeof(MacAddress) && protocol_bytes == sizeof(Be32) &&
           (operation.get() == kRequest || operation.get() == kReply);
  }
};
static_assert(sizeof(ArpPacket) == 28 && alignof(ArpPacket) == 1);

}  // namespace outrider
