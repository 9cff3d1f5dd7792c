#pragma once

#include <cstdint>

namespace outrider {

/// Counters of one connection [packets unless named otherwise], modulo 2^32: a
/// million connections are kept at once.
struct TcpCounters {
  std::uint32_t segments_sent = 0;  ///< all, pure ACKs too
  std::uint32_t segments_received = 0;
  std::uint32_t retransmitted = 0;
  std::uint32_t rtos_data = 0;       ///< retransmission time-outs of data or FIN
  std::uint32_t rtos_handshake = 0;  ///< of SYN or SYN-ACK
  std::uint32_t fast_recoveries = 0;
  std::uint32_t ece_reductions = 0;
  std::uint32_t ce_received = 0;
  std::uint32_t duplicates_received = 0;  ///< segments with no new byte
  std::uint32_t out_of_order_received = 0;
  std::uint32_t reassembly_refused = 0;  ///< no room to remember another hole; never SACKed
  std::uint32_t paws_rejected = 0;       ///< timestamp older than the last (RFC 7323, 5)
  std::uint32_t window_probes = 0;       ///< sent into a closed window
  /// ACK of data never sent, SACK or data out of window, segment out of state
  std::uint32_t invalid_received = 0;
};

/// Rare events of all connections that share a TransportMemory.
struct TcpEvents {
  std::uint64_t retransmitted = 0;    ///< segments
  std::uint64_t tail_probes = 0;      ///< sent (RFC 8985, 7)
  std::uint64_t duplicates_told = 0;  ///< D-SACKs received (RFC 2883): resent in vain
};

}  // namespace outrider
