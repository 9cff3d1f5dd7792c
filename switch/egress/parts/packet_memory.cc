#include "switch/egress/parts/packet_memory.h"

namespace outrider::sw {

std::optional<DropReason> PacketMemory::refuses(const Packet& packet) const noexcept {
  if (is_lossless(packet))
    return own_.lossless->admits(packet, own_.number) ? std::nullopt
                                                      : std::optional(DropReason::kHeadroom);
  if (own_.buffer == nullptr) return std::nullopt;
  const BufferVerdict verdict = own_.buffer->admits(own_.buffer_queue, meta(packet).frame_bytes);
  if (verdict == BufferVerdict::kOverShare) return DropReason::kOverShare;
  if (verdict == BufferVerdict::kFull) return DropReason::kBufferFull;
  return std::nullopt;
}

void PacketMemory::on_entry(const Packet& packet, Time now) noexcept {
  if (is_lossless(packet)) own_.lossless->charge(packet, own_.number, now);
  else if (own_.buffer != nullptr) own_.buffer->charge(own_.buffer_queue, meta(packet).frame_bytes);
}

void PacketMemory::on_exit(const Fifo::Item& item, Time now) noexcept {
  if (is_lossless(*item.packet)) own_.lossless->release(*item.packet, own_.number, now);
  else forget(item);
}

/// Lossless queues' account is left alone: nobody is told of what leaves at the end of the run.
void PacketMemory::forget(const Fifo::Item& item) noexcept {
  if (own_.buffer != nullptr && !is_lossless(*item.packet))
    own_.buffer->release(own_.buffer_queue, item.frame_bytes);
}

}  // namespace outrider::sw
