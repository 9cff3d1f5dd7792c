#pragma once

#include <cstdint>
#include <cstring>

#include "common/dpdk/packet/packet.h"

namespace outrider::tg {

/// Remembers where a frame has left four bytes that are not zeros in the payload's area of its
/// buffer, so that the next writer finds zeros there (decision 005). The place is kept in a field
/// of the mbuf that only receiving drivers write, with time stamps switched on: neither freeing nor
/// allocating a buffer changes it.
/// @param offset from the frame's begin, > 0
inline void note_trailer(Packet& packet, std::uint32_t offset) noexcept {
  packet.timesync = static_cast<std::uint16_t>(offset);
}

/// Clears what note_trailer() has remembered. @pre the packet was just allocated: its data begin
/// where they began when the trailer was written
inline void clear_trailer(Packet& packet) noexcept {
  const std::uint32_t offset = packet.timesync;
  if (offset == 0) [[likely]]
    return;
  packet.timesync = 0;
  // A driver that has written the field may have written anything.
  if (packet.data_off + offset + sizeof(std::uint32_t) > packet.buf_len) return;
  std::memset(rte_pktmbuf_mtod_offset(&packet, std::uint8_t*, offset), 0, sizeof(std::uint32_t));
}

}  // namespace outrider::tg
