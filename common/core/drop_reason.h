#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace outrider {

/// Every way in which a packet ends other than being transmitted.
enum class DropReason : std::uint8_t {
  kTailPackets,  ///< queue at its limit in packets
  kTailBytes,    ///< queue at its limit in bytes
  kSignalQueue,  ///< the signals' own queue is full
  kNotIpv4,      ///< EtherType, version of the IP header
  kMalformed,    ///< truncated, or lengths that contradict each other
  kBadChecksum,  ///< IPv4 header
  kTtlExpired,
  kNoRoute,
  kUnknownHost,     ///< generator: no host has the destination address
  kNoConnection,    ///< generator: no connection and no listener
  kDeviceTxFull,    ///< the device's transmit ring took no more
  kUnresolved,      ///< generator: nobody answers ARP for the next hop
  kInjectedLoss,    ///< switch: a port's `loss` setting, for tests and experiments
  kVlanDepth,       ///< more 802.1Q tags than are parsed
  kIpv6Extensions,  ///< a longer chain of extension headers than is walked
  kFiltered,        ///< bridge: the destination is where the packet came from
  kLinkLocalMac,    ///< bridge: 01:80:C2:00:00:00 to 0F, for the bridge itself
  kForSwitch,       ///< to an address of the switch itself, which offers no service there
  kFloodNoBuffer,   ///< a copy of a flooded packet: no buffer was left for it
  kOverShare,       ///< shared buffer: the queue is at its dynamic threshold
  kBufferFull,      ///< shared buffer: nothing is free
  kAqmNotEct,       ///< would have been marked, but is not ECN-capable
  kAqmOverload,     ///< PIE: the probability is beyond marking
  kHandoverFull,    ///< switch: the lcore that owns the egress port took no more
};
inline constexpr std::size_t kDropReasons = 24;
inline constexpr std::array<std::string_view, kDropReasons> kDropReasonNames{
    "tail_packets",   "tail_bytes",     "signal_queue",  "not_ipv4",        "malformed",
    "bad_checksum",   "ttl_expired",    "no_route",      "unknown_host",    "no_connection",
    "device_tx_full", "unresolved",     "injected_loss", "vlan_depth",      "ipv6_extensions",
    "filtered",       "link_local_mac", "for_switch",    "flood_no_buffer", "over_share",
    "buffer_full",    "aqm_not_ect",    "aqm_overload",  "handover_full"};
static_assert(static_cast<std::size_t>(DropReason::kHandoverFull) + 1 == kDropReasons);
constexpr const auto& names_of(DropReason) noexcept { return kDropReasonNames; }

/// Why a packet got CE.
enum class MarkReason : std::uint8_t {
  kMarker,              ///< the queue's configured marker
  kRegulatedThreshold,  ///< below it: only because the queue was regulated
};
inline constexpr std::size_t kMarkReasons = 2;
inline constexpr std::array<std::string_view, kMarkReasons> kMarkReasonNames{"marker",
                                                                             "regulated_threshold"};
constexpr const auto& names_of(MarkReason) noexcept { return kMarkReasonNames; }

}  // namespace outrider
