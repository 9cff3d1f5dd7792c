#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "common/core/ipv6_address.h"

namespace outrider {

static_assert(std::endian::native == std::endian::little, "byte order helpers assume it");

constexpr std::uint16_t be16(std::uint16_t v) noexcept { return __builtin_bswap16(v); }
constexpr std::uint32_t be32(std::uint32_t v) noexcept { return __builtin_bswap32(v); }

/// An integer in network byte order, at any alignment.
template <class T>
struct BigEndian {
  std::array<std::uint8_t, sizeof(T)> raw;

  [[nodiscard]] T get() const noexcept {
    T v;
    std::memcpy(&v, raw.data(), sizeof v);
    if constexpr (sizeof(T) == 2) return be16(v);
    else return be32(v);
  }
  void set(T v) noexcept {
    if constexpr (sizeof(T) == 2) v = be16(v);
    else v = be32(v);
    std::memcpy(raw.data(), &v, sizeof v);
  }
};
using Be16 = BigEndian<std::uint16_t>;
using Be32 = BigEndian<std::uint32_t>;

using MacAddress = std::array<std::uint8_t, 6>;

inline constexpr std::uint16_t kEtherTypeIpv4 = 0x0800;
inline constexpr std::uint16_t kEtherTypeIpv6 = 0x86DD;
inline constexpr std::uint16_t kEtherTypeVlan = 0x8100;         ///< IEEE 802.1Q C-tag
inline constexpr std::uint16_t kEtherTypeServiceVlan = 0x88A8;  ///< S-tag, before a C-tag
inline constexpr std::uint8_t kIpProtocolTcp = 6;
inline constexpr std::uint8_t kIpProtocolUdp = 17;

struct EthernetHeader {
  MacAddress destination;
  MacAddress source;
  Be16 ether_type;
};
static_assert(sizeof(EthernetHeader) == 14 && alignof(EthernetHeader) == 1);

/// Returns the six bytes as a number, first byte highest, as tables take it.
constexpr std::uint64_t number_of(const MacAddress& mac) noexcept {
  std::uint64_t number = 0;
  for (const std::uint8_t byte : mac) number = number << 8 | byte;
  return number;
}

/// An 802.1Q tag: the bytes after an EtherType that announces one.
struct VlanTag {
  Be16 control;     ///< PCP (3 bits), DEI (1), VID (12): IEEE 802.1Q, 9.6
  Be16 ether_type;  ///< of the data after the tag
};
static_assert(sizeof(VlanTag) == 4 && alignof(VlanTag) == 1);

constexpr std::uint16_t vid_of(std::uint16_t control) noexcept { return control & 0x0FFF; }
constexpr std::uint8_t pcp_of(std::uint16_t control) noexcept {
  return static_cast<std::uint8_t>(control >> 13);
}

/// An IPv4 header (RFC 791) without options.
struct Ipv4Header {
  std::uint8_t version_and_length;  ///< 4 bits each; length in 32-bit words
  std::uint8_t tos;                 ///< DSCP or the TOS signal, with ECN in the low two bits
  Be16 total_length;                ///< [bytes] including the header
  Be16 identification;
  Be16 fragment;
  std::uint8_t ttl;
  std::uint8_t protocol;
  Be16 checksum;
  Be32 source;
  Be32 destination;

  [[nodiscard]] std::uint32_t header_bytes() const noexcept {
    return (version_and_length & 0x0FU) * 4U;
  }
};
static_assert(sizeof(Ipv4Header) == 20 && alignof(Ipv4Header) == 1);

/// An IPv6 header (RFC 8200, section 3).
struct Ipv6Header {
  Be32 version_class_label;  ///< 4, 8 and 20 bits
  Be16 payload_length;       ///< [bytes] including extension headers, excluding this one
  std::uint8_t next_header;
  std::uint8_t hop_limit;
  Ipv6Address source;
  Ipv6Address destination;

  /// Returns DSCP and ECN, like IPv4's TOS byte.
  [[nodiscard]] std::uint8_t traffic_class() const noexcept {
    return static_cast<std::uint8_t>(version_class_label.get() >> 20);
  }
};
static_assert(sizeof(Ipv6Header) == 40 && alignof(Ipv6Header) == 1);

/// A UDP header (RFC 768).
struct UdpHeader {
  Be16 source_port;
  Be16 destination_port;
  Be16 length;
  Be16 checksum;
};
static_assert(sizeof(UdpHeader) == 8 && alignof(UdpHeader) == 1);

enum TcpFlag : std::uint8_t {
  kTcpFin = 0x01,
  kTcpSyn = 0x02,
  kTcpRst = 0x04,
  kTcpPsh = 0x08,
  kTcpAck = 0x10,
  kTcpUrg = 0x20,
  kTcpEce = 0x40,
  kTcpCwr = 0x80,
};

/// A TCP header (RFC 9293), which options follow.
struct TcpHeader {
  Be16 source_port;
  Be16 destination_port;
  Be32 sequence;
  Be32 acknowledgment;
  std::uint8_t data_offset;  ///< high 4 bits, in 32-bit words
  std::uint8_t flags;        ///< bits of TcpFlag
  Be16 window;
  Be16 checksum;
  Be16 urgent;

  [[nodiscard]] std::uint32_t header_bytes() const noexcept { return (data_offset >> 4) * 4U; }
};
static_assert(sizeof(TcpHeader) == 20 && alignof(TcpHeader) == 1);

inline constexpr std::uint32_t kMaxTcpOptionBytes = 40;
/// Length of the IPv4 and TCP headers without options.
inline constexpr std::uint32_t kIpAndTcpBytes = sizeof(Ipv4Header) + sizeof(TcpHeader);

}  // namespace outrider
