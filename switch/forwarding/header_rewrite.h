#pragma once

#include <cassert>
#include <cstring>

#include "common/core/ecn.h"
#include "common/dpdk/packet/packet.h"
#include "common/net/checksum.h"
#include "common/net/headers.h"

namespace outrider::sw {

/// Only the functions of this file change the IP or TCP header of a forwarded packet. They
/// update the checksum of the IPv4 or TCP header incrementally (RFC 1624), so that a wrong
/// checksum stays wrong.
namespace rewrite_detail {
/// Replaces the 16-bit word at `offset` by `change(word)`, both in memory order, and updates
/// the checksum. The word is read and written whole, because reading it back after a store of
/// a single byte would stall until that store completes.
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

/// Does the same for IPv6. No checksum changes: IPv6 has no header checksum (RFC 8200), and
/// TCP's pseudo header contains neither the traffic class nor the hop limit.
inline void set_ce(Ipv6Header& ip) noexcept {
  assert(is_ect(ecn_of(ip.traffic_class())));
  constexpr std::uint8_t kCeInSecondByte = static_cast<std::uint8_t>(Ecn::kCe) << 4;
  ip.version_class_label.raw[1] |= kCeInSecondByte;
}

/// Decrements the TTL. @return false if it expires here: the packet is left unchanged and must
/// be dropped (RFC 1812, 5.3.1)
inline bool decrement_ttl(Ipv4Header& ip) noexcept {
  if (ip.ttl <= 1) return false;
  auto* bytes = reinterpret_cast<std::uint8_t*>(&ip);
  std::uint16_t ttl_and_protocol, checksum;
  std::memcpy(&ttl_and_protocol, bytes + 8, sizeof ttl_and_protocol);
  std::memcpy(&checksum, bytes + 10, sizeof checksum);
  // In memory order the TTL is the low byte, and it is at least 2, so nothing is borrowed. With
  // m' = m - 1, RFC 1624 gives HC' = ~(~HC + 0xFFFE), folded once.
  --ttl_and_protocol;
  const std::uint32_t sum = static_cast<std::uint16_t>(~checksum) + std::uint32_t{0xFFFE};
  checksum = static_cast<std::uint16_t>(~((sum & 0xFFFF) + (sum >> 16)));
  std::memcpy(bytes + 8, &ttl_and_protocol, sizeof ttl_and_protocol);
  std::memcpy(bytes + 10, &checksum, sizeof checksum);
  return true;
}
/// Does the same for IPv6.
inline bool decrement_hop_limit(Ipv6Header& ip) noexcept {
  if (ip.hop_limit <= 1) return false;
  --ip.hop_limit;
  return true;
}

/// Returns whether the IP header at `offset` is an IPv6 header. @pre parse() has accepted the
/// packet
inline bool is_ipv6_at(Packet& packet, std::uint32_t offset) noexcept {
  return (header_at<std::uint8_t>(packet, offset) >> 4) == 6;
}

/// Returns the ECN field of the IP header at `offset`. @pre parse() has accepted the packet
inline Ecn ecn_at(Packet& packet, std::uint32_t offset) noexcept {
  return ecn_of(is_ipv6_at(packet, offset) ? header_at<Ipv6Header>(packet, offset).traffic_class()
                                           : header_at<Ipv4Header>(packet, offset).tos);
}

/// Sets CE on an IP packet that is ECT and does not have CE yet, but never on a Not-ECT packet
/// (RFC 3168, section 5). @param offset  of its IP header. @return whether it set CE
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

/// Sets the window field, without scaling, as it appears on the wire.
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
