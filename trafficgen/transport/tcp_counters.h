#pragma once

#include <cstdint>

namespace outrider {

/// Counters of one connection [packets unless named otherwise].
struct TcpCounters {
  std::uint64_t segments_sent = 0;  ///< all, pure ACKs too
  std::uint64_t segments_received = 0;
  std::uint64_t retransmitted = 0;
  std::uint64_t rtos_data = 0;       ///< retransmission time-outs of data or FIN
  std::uint64_t rtos_handshake = 0;  ///< of SYN or SYN-ACK
  std::uint64_t fast_recoveries = 0;
  std::uint64_t ece_reductions = 0;
  std::uint64_t ce_received = 0;
  std::uint64_t duplicates_received = 0;  ///< segments with no new byte
  std::uint64_t out_of_order_received = 0;
  std::uint64_t reassembly_refused = 0;  ///< no room to remember another hole; never SACKed
  /// ACK of data never sent, SACK or data out of window, segment out of state
  std::uint64_t invalid_received = 0;
};

}  // namespace outrider
