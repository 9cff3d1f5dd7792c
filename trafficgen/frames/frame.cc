#include "trafficgen/frames/frame.h"

#include <algorithm>
#include <cassert>

#include "common/net/checksum.h"
#include "trafficgen/frames/ipv4_frame.h"

namespace outrider::tg {

namespace {

/// Bytes behind a TCP header without options in a frame of the least length.
constexpr std::uint32_t kLeastBehind = kMinFrameBytes - kTransportOffset - sizeof(TcpHeader);
static_assert(kLeastBehind == 6);

/// Adds these bytes to the sum: the part of the payload that buffers in virtual time hold.
std::uint64_t add_least_behind(const std::uint8_t* bytes, std::uint64_t sum) noexcept {
  std::uint32_t four;
  std::uint16_t two;
  std::memcpy(&four, bytes, sizeof four);
  std::memcpy(&two, bytes + sizeof four, sizeof two);
  return sum + four + two;
}

/// Returns the verdict of the device, or of write_frame(), about the checksum; without a verdict,
/// computes it.
/// @param tcp the part of it in the buffer, a header at least. The rest is zeros and adds nothing
bool tcp_checksum_valid(const Packet& packet, std::span<const std::uint8_t> tcp,
                        const Ipv4Header& ip, std::uint16_t tcp_length) noexcept {
  const std::uint64_t known = packet.ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;
  if (known == RTE_MBUF_F_RX_L4_CKSUM_GOOD) return true;
  if (known == RTE_MBUF_F_RX_L4_CKSUM_BAD) return false;
  std::uint64_t sum = tcp_pseudo_header_sum(ip, tcp_length) + tcp_fixed_header_sum(tcp.data());
  // Headers without payload end in padding: what a frame has up to its least length.
  const auto behind = tcp.subspan(sizeof(TcpHeader));
  if (behind.size() == kLeastBehind) sum = add_least_behind(behind.data(), sum);
  else if (!behind.empty()) sum = checksum_add(behind, sum);
  return checksum_sum_valid(sum);
}

template <class Word>
void store(std::uint8_t* out, Word word) noexcept {
  std::memcpy(out, &word, sizeof word);
}

/// Writes the Ethernet header between two emulated hosts, see mac_of(), in words.
void write_ethernet(std::uint8_t* out, const FlowKey& flow) noexcept {
  constexpr std::uint16_t kFirstTwo = 0x0002;  // in memory order: 02 00
  constexpr std::uint16_t kIpv4 = be16(kEtherTypeIpv4);
  store(out, kFirstTwo);
  store(out + 2, be32(flow.destination_address));
  store(out + 6, kFirstTwo);
  store(out + 8, be32(flow.source_address));
  store(out + 12, kIpv4);
}

/// Writes the frame of a segment without options, all headers at once: both checksums contain the
/// addresses, and words of eight bytes need fewer stores. Only the buffer's first kMinFrameBytes
/// change.
void write_plain_headers(std::uint8_t* out, const FlowKey& flow, std::uint8_t tos,
                         const TcpSegment& s) noexcept {
  const auto tcp_bytes = static_cast<std::uint16_t>(sizeof(TcpHeader) + s.payload_bytes);
  const std::uint64_t source = be32(flow.source_address);
  const std::uint64_t destination = be32(flow.destination_address);
  const std::uint64_t addresses = source + destination;
  const std::uint64_t length = be16(static_cast<std::uint16_t>(sizeof(Ipv4Header) + tcp_bytes));
  const std::uint64_t form = 0x45U | std::uint32_t{tos} << 8;  // in memory order: 45, TOS
  constexpr std::uint64_t kDontFragment = be16(0x4000);
  constexpr std::uint64_t kTtlAndProtocol = be16(kInitialTtl << 8 | kIpProtocolTcp);
  const std::uint64_t ip_sum = form + length + kDontFragment + kTtlAndProtocol + addresses;
  // Emulated hosts' MAC addresses are 02:00 and the IPv4 address, see mac_of().
  constexpr std::uint64_t kFirstTwo = 0x0002;
  store(out, kFirstTwo | destination << 16 | kFirstTwo << 48);
  store(out + 8, source | std::uint64_t{be16(kEtherTypeIpv4)} << 32 | form << 48);
  store(out + 16, length | kDontFragment << 32 | kTtlAndProtocol << 48);
  store(out + 24, static_cast<std::uint16_t>(~checksum_fold(ip_sum)));
  store(out + 26, source | destination << 32);

  const std::uint64_t ports = word_of(flow.source_port, flow.destination_port);
  const std::uint64_t sequence = be32(s.sequence);
  const std::uint64_t acknowledgment = be32(s.acknowledgment);
  const std::uint64_t flags_and_window =
      word_of(static_cast<std::uint16_t>(sizeof(TcpHeader) / 4 << 12 | s.flags), s.window);
  const std::uint64_t tcp_sum = ports + sequence + acknowledgment + flags_and_window + addresses +
                                be16(kIpProtocolTcp) + be16(tcp_bytes);
  store(out + 34, ports | sequence << 32);
  store(out + 42, acknowledgment | flags_and_window << 32);
  // The checksum, no urgent pointer, and the padding of a frame without payload.
  store(out + 50, std::uint64_t{static_cast<std::uint16_t>(~checksum_fold(tcp_sum))});
  store(out + 58, std::uint16_t{0});
  static_assert(kTransportOffset == 34 && kMinFrameBytes == 60);
}

/// Writes all headers. @return length of the TCP header
std::uint32_t write_headers(std::uint8_t* out, const FlowKey& flow, std::uint8_t tos,
                            const TcpSegment& segment) noexcept {
  std::uint8_t* tcp_bytes = out + kTransportOffset;
  const auto [tcp_header, tcp_sum] =
      encode_tcp(segment, flow.source_port, flow.destination_port,
                 {tcp_bytes, sizeof(TcpHeader) + kMaxTcpOptionBytes});
  const auto tcp_length = static_cast<std::uint16_t>(tcp_header + segment.payload_bytes);
  write_ethernet(out, flow);
  write_ipv4(out + kIpOffset, flow, kIpProtocolTcp, tos,
             static_cast<std::uint16_t>(sizeof(Ipv4Header) + tcp_length));
  const std::uint64_t sum = tcp_sum + pseudo_header_sum(flow, kIpProtocolTcp, tcp_length);
  write_memory_order(reinterpret_cast<TcpHeader*>(tcp_bytes)->checksum,
                     static_cast<std::uint16_t>(~checksum_fold(sum)));
  return tcp_header;
}

/// Sets lengths and metadata. @param header_bytes up to where the headers end
[[gnu::always_inline]] inline void note_lengths(Packet& packet, std::uint32_t header_bytes,
                                                std::uint16_t payload_bytes,
                                                bool full_payload) noexcept {
  const std::uint32_t frame_bytes = std::max(kMinFrameBytes, header_bytes + payload_bytes);
  packet.pkt_len = full_payload ? frame_bytes : std::max(kMinFrameBytes, header_bytes);
  packet.data_len = static_cast<std::uint16_t>(packet.pkt_len);
  PacketMeta& m = meta(packet);
  m.next = nullptr;
  m.frame_bytes = frame_bytes;
  m.payload_bytes = payload_bytes;
}

/// Puts into the metadata what parse() would read. @pre the lengths are noted
[[gnu::always_inline]] inline void note_fields(Packet& packet, const FlowKey& flow,
                                               std::uint8_t tos,
                                               const TcpSegment& segment) noexcept {
  PacketMeta& m = meta(packet);
  m.flow = flow;
  m.sequence = segment.sequence;
  m.tcp_flags = segment.flags;
  note_segment(packet, tos);
}

/// Writes a frame of any form.
[[gnu::noinline]] void write_any_frame(Packet& packet, const FlowKey& flow, std::uint8_t tos,
                                       const TcpSegment& segment, bool full_payload) noexcept {
  auto* bytes = rte_pktmbuf_mtod(&packet, std::uint8_t*);
  const std::uint32_t header_bytes = kTransportOffset + write_headers(bytes, flow, tos, segment);
  note_lengths(packet, header_bytes, segment.payload_bytes, full_payload);
  // Options or a signal of an earlier packet may be where this frame has payload or padding.
  // Clearing beyond this frame's length is harmless: all payload is zeros.
  if (full_payload) {
    static_assert(kTransportOffset + sizeof(TcpHeader) + kMaxTcpOptionBytes <= kWrittenEnd);
    std::memset(bytes + header_bytes, 0, kWrittenEnd - kTransportOffset - sizeof(TcpHeader));
    // Between hosts of one process (net_ring) the frame never leaves memory, so that the receiver
    // need not read all of it to verify the checksum. Sending drivers ignore receive flags.
    packet.ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD;
  } else {
    std::memset(bytes + header_bytes, 0, kLeastBehind);
    note_fields(packet, flow, tos, segment);
  }
}
}  // namespace

MacAddress mac_of(std::uint32_t address) noexcept {
  return {0x02,
          0x00,
          static_cast<std::uint8_t>(address >> 24),
          static_cast<std::uint8_t>(address >> 16),
          static_cast<std::uint8_t>(address >> 8),
          static_cast<std::uint8_t>(address)};
}

void write_frame(Packet& packet, const FlowKey& flow, std::uint8_t tos, const TcpSegment& segment,
                 bool full_payload) noexcept {
  if (full_payload || segment.has_options()) [[unlikely]]
    return write_any_frame(packet, flow, tos, segment, full_payload);
  write_plain_headers(rte_pktmbuf_mtod(&packet, std::uint8_t*), flow, tos, segment);
  note_lengths(packet, kTransportOffset + sizeof(TcpHeader), segment.payload_bytes, false);
  note_fields(packet, flow, tos, segment);
}

std::optional<FlowKey> peek_flow(Packet& packet) noexcept {
  if (rte_pktmbuf_data_len(&packet) < kTransportOffset + sizeof(TcpHeader)) return std::nullopt;
  const auto& ip = header_at<Ipv4Header>(packet, kIpOffset);
  if (ip.version_and_length != 0x45 || ip.protocol != kIpProtocolTcp) return std::nullopt;
  const auto& tcp = header_at<TcpHeader>(packet, kTransportOffset);
  return FlowKey{ip.source.get(), ip.destination.get(), tcp.source_port.get(),
                 tcp.destination_port.get()};
}

std::optional<DropReason> read_frame_bytes(Packet& packet, ReceivedFrame& frame) noexcept {
  const auto bytes = buffer(packet);
  if (bytes.size() < kTransportOffset + sizeof(TcpHeader)) return DropReason::kMalformed;
  const auto& ethernet = header_at<EthernetHeader>(packet, 0);
  const auto& ip = header_at<Ipv4Header>(packet, kIpOffset);
  if (ethernet.ether_type.get() != kEtherTypeIpv4 || ip.version_and_length != 0x45)
    return DropReason::kNotIpv4;
  const std::uint32_t ip_bytes = ip.total_length.get();
  if (ip_bytes < sizeof(Ipv4Header) + sizeof(TcpHeader) ||
      kIpOffset + ip_bytes > meta(packet).frame_bytes)
    return DropReason::kMalformed;
  if (!ipv4_checksum_valid(ip)) return DropReason::kBadChecksum;
  if (ip.protocol != kIpProtocolTcp) return DropReason::kNoConnection;
  const auto tcp_length = static_cast<std::uint16_t>(ip_bytes - sizeof(Ipv4Header));
  const auto tcp_present = bytes.subspan(
      kTransportOffset, std::min<std::size_t>(bytes.size() - kTransportOffset, tcp_length));
  if (!tcp_checksum_valid(packet, tcp_present, ip, tcp_length)) return DropReason::kBadChecksum;
  if (!decode_tcp(tcp_present, tcp_length, frame.segment)) return DropReason::kMalformed;
  frame.segment.ecn = ecn_of(ip.tos);
  frame.tos = ip.tos;
  const auto& tcp = *reinterpret_cast<const TcpHeader*>(tcp_present.data());
  frame.flow.source_address = ip.source.get();
  frame.flow.destination_address = ip.destination.get();
  frame.flow.source_port = tcp.source_port.get();
  frame.flow.destination_port = tcp.destination_port.get();
  return std::nullopt;
}

bool bytes_agree(Packet& packet, const ReceivedFrame& frame) noexcept {
  ReceivedFrame read;
  if (read_frame_bytes(packet, read)) return false;
  const TcpSegment& a = frame.segment;
  const TcpSegment& b = read.segment;
  const auto same_blocks = [](const SackBlock& x, const SackBlock& y) {
    return x.begin == y.begin && x.end == y.end;
  };
  return frame.flow == read.flow && frame.tos == read.tos && a.sequence == b.sequence &&
         a.acknowledgment == b.acknowledgment && a.flags == b.flags && a.window == b.window &&
         a.payload_bytes == b.payload_bytes && a.ecn == b.ecn && a.mss == b.mss &&
         a.window_scale == b.window_scale && a.sack_permitted == b.sack_permitted &&
         a.sack_blocks == b.sack_blocks && std::ranges::equal(a.sack, b.sack, same_blocks) &&
         a.has_timestamps == b.has_timestamps && a.ts_value == b.ts_value &&
         a.ts_echo == b.ts_echo && a.has_identity == b.has_identity && a.identity == b.identity;
}

}  // namespace outrider::tg
