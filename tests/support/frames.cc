#include "tests/support/frames.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "common/config/addresses.h"
#include "tests/support/byte_writer.h"

namespace outrider {

namespace {

constexpr std::size_t kIp = 14;  // offset of the IPv4 header

void put_at(Bytes& out, std::size_t at, std::uint16_t v) {
  out[at] = static_cast<std::uint8_t>(v >> 8);
  out[at + 1] = static_cast<std::uint8_t>(v);
}
void append(Bytes& out, const Bytes& more) { out.insert(out.end(), more.begin(), more.end()); }
void pad_to_words(Bytes& options) { options.resize((options.size() + 3) / 4 * 4); }

std::uint32_t get(std::span<const std::uint8_t> bytes, std::size_t at, std::size_t n) {
  std::uint32_t v = 0;
  for (std::size_t i = 0; i < n; ++i) v = (v << 8) | bytes[at + i];
  return v;
}

Bytes tcp_of(const FrameSpec& spec) {
  Bytes options = spec.tcp_options;
  if (spec.identity) {
    const BurstIdentity& id = *spec.identity;
    append(options, {253, 12, 0x4F, 0x52});
    put16(options, id.job);
    put16(options, id.worker | (id.direction == BurstDirection::kPull ? 0x8000U : 0U));
    put32(options, id.iteration);
  }
  pad_to_words(options);
  Bytes tcp;
  put16(tcp, spec.flow.source_port);
  put16(tcp, spec.flow.destination_port);
  put32(tcp, spec.sequence);
  put32(tcp, spec.acknowledgment);
  tcp.push_back(static_cast<std::uint8_t>((20 + options.size()) / 4 << 4));
  tcp.push_back(spec.tcp_flags);
  put16(tcp, spec.window);
  put32(tcp, 0);  // checksum, urgent
  append(tcp, options);
  tcp.resize(tcp.size() + spec.payload_bytes);
  return tcp;
}

}  // namespace

std::uint32_t ip(std::string_view text) {
  const auto parsed = parse_ipv4(text);
  if (!parsed.value) throw std::invalid_argument(std::string(text));
  return *parsed.value;
}

std::uint16_t internet_checksum(std::span<const std::uint8_t> bytes, std::uint32_t sum) {
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    sum += get(bytes, i, 1) << 8;
    if (i + 1 < bytes.size()) sum += bytes[i + 1];
    sum = (sum & 0xFFFF) + (sum >> 16);
  }
  return static_cast<std::uint16_t>(~((sum & 0xFFFF) + (sum >> 16)));
}

void reseal_ipv4(Bytes& frame) {
  const std::size_t length = (frame[kIp] & 0x0FU) * 4U;
  put_at(frame, kIp + 10, 0);
  put_at(frame, kIp + 10, internet_checksum(std::span(frame).subspan(kIp, length)));
}

Bytes bytes_of(const FrameSpec& spec) {
  Bytes ip_options = spec.ip_options;
  pad_to_words(ip_options);
  Bytes l4 = tcp_of(spec);
  Bytes out;
  put_mac(out, spec.flow.destination_address);
  put_mac(out, spec.flow.source_address);
  put16(out, kEtherTypeIpv4);
  const std::size_t ip_header = 20 + ip_options.size();
  out.push_back(static_cast<std::uint8_t>(0x40 | (ip_header / 4)));
  out.push_back(spec.tos);
  put16(out, static_cast<std::uint32_t>(ip_header + l4.size()));
  put16(out, 0);  // identification
  put16(out, spec.fragment);
  out.push_back(spec.ttl);
  out.push_back(spec.protocol);
  put16(out, 0);  // checksum
  put32(out, spec.flow.source_address);
  put32(out, spec.flow.destination_address);
  append(out, ip_options);
  Bytes pseudo;
  put32(pseudo, spec.flow.source_address);
  put32(pseudo, spec.flow.destination_address);
  put16(pseudo, spec.protocol);
  put16(pseudo, static_cast<std::uint32_t>(l4.size()));
  append(pseudo, l4);
  put_at(l4, 16, internet_checksum(pseudo));
  append(out, l4);
  out.resize(std::max<std::size_t>(out.size(), 60));
  reseal_ipv4(out);
  return out;
}

Packet* packet_of(rte_mempool& pool, std::span<const std::uint8_t> frame) {
  Packet* packet = rte_pktmbuf_alloc(&pool);
  if (packet == nullptr) throw std::runtime_error("no mbuf is left");
  const auto present =
      static_cast<std::uint16_t>(std::min<std::size_t>(frame.size(), rte_pktmbuf_tailroom(packet)));
  std::ranges::copy(frame.first(present),
                    reinterpret_cast<std::uint8_t*>(rte_pktmbuf_append(packet, present)));
  meta(*packet) = PacketMeta{};
  meta(*packet).frame_bytes = static_cast<std::uint32_t>(frame.size());
  return packet;
}

Packet* make_packet(rte_mempool& pool, const FrameSpec& spec) {
  return packet_of(pool, bytes_of(spec));
}

std::uint8_t start_tos(std::uint16_t threshold_packets, Ecn ecn) {
  return static_cast<std::uint8_t>(0x80U | (threshold_packets / 5U << 2) |
                                   static_cast<unsigned>(ecn));
}

std::uint8_t ack_tos(std::uint16_t threshold_packets, Ecn ecn) {
  return static_cast<std::uint8_t>(0x40U | (threshold_packets / 5U << 2) |
                                   static_cast<unsigned>(ecn));
}

Arrival arrival_of(Packet& packet, std::uint32_t port, Time now) {
  const auto bytes = buffer(packet);
  const std::size_t header = (bytes[kIp] & 0x0FU) * 4U;
  const std::size_t tcp = kIp + header;
  Arrival a{.at = now,
            .port = port,
            .flow = {get(bytes, kIp + 12, 4), get(bytes, kIp + 16, 4), 0, 0},
            .tos = bytes[kIp + 1],
            .ttl = bytes[kIp + 8],
            .frame_bytes = meta(packet).frame_bytes,
            .checksum_valid = internet_checksum(bytes.subspan(kIp, header)) == 0,
            .bytes = {bytes.begin(), bytes.end()}};
  if (bytes[kIp + 9] == kIpProtocolTcp && tcp + 20 <= bytes.size()) {
    a.flow.source_port = static_cast<std::uint16_t>(get(bytes, tcp, 2));
    a.flow.destination_port = static_cast<std::uint16_t>(get(bytes, tcp + 2, 2));
    a.sequence = get(bytes, tcp + 4, 4);
    a.acknowledgment = get(bytes, tcp + 8, 4);
    a.tcp_flags = bytes[tcp + 13];
    a.window = static_cast<std::uint16_t>(get(bytes, tcp + 14, 2));
    a.payload_bytes =
        static_cast<std::uint16_t>(get(bytes, kIp + 2, 2) - header - (bytes[tcp + 12] >> 4) * 4U);
  }
  return a;
}

void Collector::receive(std::uint32_t port, Packet* packet, Time now) noexcept {
  arrivals.push_back(arrival_of(*packet, port, now));
  release(packet);
}

std::size_t Collector::count(const std::function<bool(const Arrival&)>& matches) const {
  return static_cast<std::size_t>(std::ranges::count_if(arrivals, matches));
}

}  // namespace outrider
