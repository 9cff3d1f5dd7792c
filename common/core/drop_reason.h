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
  kNotIpv4,      ///< EtherType, version
  kMalformed,    ///< truncated, or lengths that contradict each other
  kBadChecksum,  ///< IPv4 header
  kTtlExpired,
  kNoRoute,
  kUnknownHost,   ///< generator: no host has the destination address
  kNoConnection,  ///< generator: no connection and no listener
  kDeviceTxFull,  ///< the device's transmit ring took no more
  kUnresolved,    ///< generator: nobody answers ARP for the next hop
  kInjectedLoss,  ///< switch: a port's `loss` setting, for tests and experiments
};
inline constexpr std::size_t kDropReasons = 13;
inline constexpr std::array<std::string_view, kDropReasons> kDropReasonNames{
    "tail_packets",   "tail_bytes",  "signal_queue", "not_ipv4",     "malformed",
    "bad_checksum",   "ttl_expired", "no_route",     "unknown_host", "no_connection",
    "device_tx_full", "unresolved",  "injected_loss"};
static_assert(static_cast<std::size_t>(DropReason::kInjectedLoss) + 1 == kDropReasons);

/// Why a packet got CE.
enum class MarkReason : std::uint8_t {
  kInitialThreshold,    ///< the queue's configured threshold
  kRegulatedThreshold,  ///< below it: only because the queue was regulated
};
inline constexpr std::size_t kMarkReasons = 2;
inline constexpr std::array<std::string_view, kMarkReasons> kMarkReasonNames{"initial_threshold",
                                                                             "regulated_threshold"};

}  // namespace outrider
