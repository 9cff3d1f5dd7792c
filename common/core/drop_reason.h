#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace outrider {

/// All reasons for which a packet ends other than by being transmitted.
enum class DropReason : std::uint8_t {
  kTailPackets,  ///< queue, or all of its port, at the limit in packets
  kTailBytes,    ///< queue at its limit in bytes
  kSignalQueue,  ///< the signals' own queue is full
  kNotIpv4,      ///< wrong EtherType, or wrong version in the IP header
  kMalformed,    ///< truncated, or lengths that contradict each other
  kBadChecksum,  ///< of the IPv4 header
  kTtlExpired,
  kNoRoute,
  kUnknownHost,     ///< generator: no host has the destination address
  kNoConnection,    ///< generator: neither a connection nor a listener matches
  kDeviceTxFull,    ///< the device's transmit ring was full
  kUnresolved,      ///< generator: no answer to ARP for the next hop
  kInjectedLoss,    ///< switch: a port's `loss` or `lose_packets`, for tests and experiments
  kVlanDepth,       ///< more 802.1Q tags than the parser reads
  kIpv6Extensions,  ///< a longer chain of extension headers than the parser reads
  kFiltered,        ///< bridge: the destination is at the port that the packet came from
  kLinkLocalMac,    ///< bridge: 01:80:C2:00:00:00 to 0F, meant for the bridge itself
  kForSwitch,       ///< addressed to the switch itself, which offers no service there
  kFloodNoBuffer,   ///< a copy of a flooded packet: no buffer was left for it
  kOverShare,       ///< shared buffer: the queue is at its dynamic threshold
  kBufferFull,      ///< shared buffer: no shared memory is free
  kAqmNotEct,       ///< AQM would mark it, but it is not ECN-capable
  kAqmOverload,     ///< PIE: the probability is too high for marks to suffice
  kHandoverFull,    ///< the ring to the lcore of the egress port, or of the host, was full
  kDeviceTxError,   ///< the device took it and then failed to send it, by its own counters
  kRepeatedAnswer,  ///< an answer to a START of which one is held, or that a newer START replaced
  kHeadroom,        ///< lossless class: the headroom of the port that it came by is used up
  kPauseWatchdog,   ///< lossless class: its neighbour has paused it for too long
};
inline constexpr std::size_t kDropReasons = 28;
inline constexpr std::array<std::string_view, kDropReasons> kDropReasonNames{
    "tail_packets",    "tail_bytes",     "signal_queue",  "not_ipv4",        "malformed",
    "bad_checksum",    "ttl_expired",    "no_route",      "unknown_host",    "no_connection",
    "device_tx_full",  "unresolved",     "injected_loss", "vlan_depth",      "ipv6_extensions",
    "filtered",        "link_local_mac", "for_switch",    "flood_no_buffer", "over_share",
    "buffer_full",     "aqm_not_ect",    "aqm_overload",  "handover_full",   "device_tx_error",
    "repeated_answer", "headroom",       "pause_watchdog"};
static_assert(static_cast<std::size_t>(DropReason::kPauseWatchdog) + 1 == kDropReasons);
constexpr const auto& names_of(DropReason) noexcept { return kDropReasonNames; }

/// Why a packet was marked with CE.
enum class MarkReason : std::uint8_t {
  kMarker,              ///< the queue's configured marker
  kRegulatedThreshold,  ///< only the regulated threshold: the marker alone would not have marked
  kInjected,            ///< a port's `mark_packets`, for tests and experiments
};
inline constexpr std::size_t kMarkReasons = 3;
inline constexpr std::array<std::string_view, kMarkReasons> kMarkReasonNames{
    "marker", "regulated_threshold", "injected"};
constexpr const auto& names_of(MarkReason) noexcept { return kMarkReasonNames; }

}  // namespace outrider
