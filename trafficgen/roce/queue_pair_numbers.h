#pragma once

#include <cstdint>

namespace outrider::tg {

/// [transfer.queue_pair]: a reliable connection of RoCEv2 with a host outside the process. There is
/// no connection management: the ends are told each other's numbers before the run.
struct QueuePairNumbers {
  std::uint16_t own = 0;             ///< number here, and the key of the memory; 0: no table
  std::uint32_t own_first_psn = 0;   ///< of what is sent here, 24 bits
  std::uint32_t peer = 0;            ///< number at the host outside, 24 bits
  std::uint32_t peer_first_psn = 0;  ///< of what it sends
  std::uint32_t peer_key = 0;        ///< of its memory (R_Key), for WRITEs
  std::uint64_t peer_address = 0;    ///< where the first byte goes in its memory

  bool operator==(const QueuePairNumbers&) const = default;
};

}  // namespace outrider::tg
