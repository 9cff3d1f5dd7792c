#include "switch/forwarding/identify.h"

#include "common/net/burst_option.h"
#include "common/net/mlt_message.h"
#include "common/net/roce.h"
#include "switch/forwarding/datagram.h"

namespace outrider::sw {
namespace {

void read_roce(PacketMeta& m, const DatagramHead& datagram) noexcept {
  roce::Message message;
  if (roce::decode(datagram.present, datagram.payload_bytes, message) ||
      !roce::is_data(message.opcode))
    return;
  m.sequence = roce::sequence_of(message.psn);
  m.payload_bytes = message.payload_bytes;
}

void note_burst(PacketMeta& m, const BurstIdentity& identity) noexcept {
  m.notes.content = Content::kBurst;
  m.identity = identity;
}

void read_datagram(Packet& packet) noexcept {
  PacketMeta& m = meta(packet);
  const auto datagram = datagram_head_of(packet);
  if (!datagram) return;
  if (m.flow.destination_port == roce::kPort) return read_roce(m, *datagram);
  mlt::Message message;
  if (mlt::decode(datagram->present, datagram->payload_bytes, message) ||
      message.kind != mlt::Kind::kData)
    return;
  note_burst(m, message.identity);
  m.sequence = message.sequence;
  m.payload_bytes = message.length_bytes;
}

void read_segment(Packet& packet) noexcept {
  PacketMeta& m = meta(packet);
  if (m.payload_bytes == 0) return;
  const auto& tcp = header_at<TcpHeader>(packet, m.tcp_offset);
  const std::uint32_t option_bytes =
      tcp.header_bytes() - static_cast<std::uint32_t>(sizeof(TcpHeader));
  if (option_bytes < kBurstOptionBytes) return;
  const auto options = buffer(packet).subspan(m.tcp_offset + sizeof(TcpHeader), option_bytes);
  if (const auto identity = decode_burst_option(options)) note_burst(m, *identity);
}

}  // namespace

void detail::read_content(Packet& packet) noexcept {
  PacketMeta& m = meta(packet);
  m.notes.content = Content::kNoBurst;
  if (m.tcp_offset == 0) read_datagram(packet);
  else read_segment(packet);
}

}  // namespace outrider::sw
