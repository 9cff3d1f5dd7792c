#pragma once

#include <cassert>
#include <cstring>

#include "common/core/ecn.h"
#include "common/dpdk/packet.h"
#include "common/net/checksum.h"
#include "common/net/headers.h"

namespace outrider::sw {

/// The only places that change a forwarded header; each keeps its checksum, the IPv4
/// header's or TCP's, right incrementally (RFC 1624): wrong ones stay wrong.
namespace rewrite_detail {
/// @param change from the word at `offset` to the new one, both in memory order. Words are
/// read and written whole: reading back a byte that was just written alone would wait for
/// the store
template <class Change>
void rewrite_word(Ipv4Header& ip, std::size_t offset, Change&& change) noexcept {
  auto* bytes = reinterpret_cast<std::uint8_t*>(&ip);
  std::uint16_t before, checksum;
  std::memcpy(&before, bytes + offset, sizeof before);
  const std::uint16_t after = change(before);
  std::memcpy(bytes + offset, &after, sizeof after);
  std::memcpy(&checksum, ip.checksum.raw.data(), sizeof checksum);
  checksum = checksum_update(checksum, before, after);
  std::memcpy(ip.checksum.raw.data(), &checksum, sizeof checksum);
}
}  // namespace rewrite_detail

/// Sets CE. @pre the packet is ECT: CE on a Not-ECT packet breaks RFC 3168, section 5
inline void set_ce(Ipv4Header& ip) noexcept {
  assert(is_ect(ecn_of(ip.tos)));
  constexpr unsigned kCeInSecondByte = static_cast<unsigned>(Ecn::kCe) << 8;
  rewrite_detail::rewrite_word(ip, 0, [](std::uint16_t version_and_tos) {
    return static_cast<std::uint16_t>(version_and_tos | kCeInSecondByte);
  });
}

/// The same; IPv6 has no header checksum (RFC 8200), and TCP's pseudo header leaves the
/// traffic class and the hop limit out.
inline void set_ce(Ipv6Header& ip) noexcept {
  assert(is_ect(ecn_of(ip.traffic_class())));
  constexpr std::uint8_t kCeInSecondByte = static_cast<std::uint8_t>(Ecn::kCe) << 4;
  ip.version_class_label.raw[1] |= kCeInSecondByte;
}

/// @return false if the TTL runs out here: the packet must be dropped, unchanged (RFC 1812, 5.3.1)
inline bool decrement_ttl(Ipv4Header& ip) noexcept {
  if (ip.ttl <= 1) return false;
  auto* bytes = reinterpret_cast<std::uint8_t*>(&ip);
  std::uint16_t ttl_and_protocol, checksum;
  std::memcpy(&ttl_and_protocol, bytes + 8, sizeof ttl_and_protocol);
  std::memcpy(&checksum, bytes + 10, sizeof checksum);
  // In memory order the TTL is the low byte, and at least 2: no borrow. RFC 1624 with
  // m' = m - 1 is HC' = ~(~HC + 0xFFFE), folded once.
  --ttl_and_protocol;
  const std::uint32_t sum = static_cast<std::uint16_t>(~checksum) + std::uint32_t{0xFFFE};
  checksum = static_cast<std::uint16_t>(~((sum & 0xFFFF) + (sum >> 16)));
  std::memcpy(bytes + 8, &ttl_and_protocol, sizeof ttl_and_protocol);
  std::memcpy(bytes + 10, &checksum, sizeof checksum);
  return true;
}
/// The same for IPv6.
inline bool decrement_hop_limit(Ipv6Header& ip) noexcept {
  if (ip.hop_limit <= 1) return false;
  --ip.hop_limit;
  return true;
}

/// Is the IP header at `offset` of a packet that parse() accepted one of IPv6?
inline bool is_ipv6_at(Packet& packet, std::uint32_t offset) noexcept {
  return (header_at<std::uint8_t>(packet, offset) >> 4) == 6;
}

/// ECN field of the IP header at `offset` of a packet that parse() accepted.
inline Ecn ecn_at(Packet& packet, std::uint32_t offset) noexcept {
  return ecn_of(is_ipv6_at(packet, offset) ? header_at<Ipv6Header>(packet, offset).traffic_class()
                                           : header_at<Ipv4Header>(packet, offset).tos);
}

/// Sets CE on an IP packet that is ECT and does not have it yet: never on Not-ECT
/// (RFC 3168, section 5). @param offset of its header. @return whether it did
inline bool mark_ce(Packet& packet, std::uint32_t offset) noexcept {
  const auto may_mark = [](Ecn ecn) { return is_ect(ecn) && ecn != Ecn::kCe; };
  if (is_ipv6_at(packet, offset)) [[unlikely]] {
    auto& ip = header_at<Ipv6Header>(packet, offset);
    if (!may_mark(ecn_of(ip.traffic_class()))) return false;
    set_ce(ip);
    return true;
  }
  auto& ip = header_at<Ipv4Header>(packet, offset);
  if (!may_mark(ecn_of(ip.tos))) return false;
  set_ce(ip);
  return true;
}

/// Sets the window field as it stands on the wire.
inline void set_window(TcpHeader& tcp, std::uint16_t window) noexcept {
  std::uint16_t before, after, checksum;
  std::memcpy(&before, tcp.window.raw.data(), 2);
  tcp.window.set(window);
  std::memcpy(&after, tcp.window.raw.data(), 2);
  std::memcpy(&checksum, tcp.checksum.raw.data(), 2);
  checksum = checksum_update(checksum, before, after);
  std::memcpy(tcp.checksum.raw.data(), &checksum, 2);
}

}  // namespace outrider::sw
