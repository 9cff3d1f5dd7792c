#include "tests/support/ipv6_frames.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "common/net/arp.h"
#include "tests/support/byte_writer.h"

namespace outrider {
namespace {

Bytes transport_of(const Ipv6FrameSpec& spec) {
  Bytes out;
  put16(out, spec.source_port);
  put16(out, spec.destination_port);
  if (spec.protocol == kIpProtocolUdp) {
    put16(out, 8U + spec.payload_bytes);
    put16(out, 0);
  } else {
    put32(out, spec.sequence);
    put32(out, 0);
    out.push_back(0x50);
    out.push_back(spec.tcp_flags);
    put16(out, 0xFFFF);
    put32(out, 0);
  }
  out.resize(out.size() + spec.payload_bytes);
  return out;
}

/// Appends one extension header of 8 bytes. @param next  type of the header that follows it
void put_extension(Bytes& out, std::uint8_t type, std::uint8_t next, std::uint16_t offset) {
  constexpr std::uint8_t kFragment = 44;
  out.push_back(next);
  out.push_back(0);  // 8 bytes
  put16(out, type == kFragment ? static_cast<std::uint32_t>(offset << 3) : 0);
  put32(out, 0);
}

}  // namespace

Ipv6Address ip6(std::string_view text) {
  Ipv6Address address{};
  if (inet_pton(AF_INET6, std::string(text).c_str(), address.data()) != 1)
    throw std::invalid_argument(std::string(text));
  return address;
}

Bytes ipv6_bytes_of(const Ipv6FrameSpec& spec) {
  Bytes payload;
  for (std::size_t i = 0; i < spec.extensions.size(); ++i)
    put_extension(payload, spec.extensions[i],
                  i + 1 < spec.extensions.size() ? spec.extensions[i + 1] : spec.protocol,
                  spec.fragment_offset);
  const Bytes transport = transport_of(spec);
  payload.insert(payload.end(), transport.begin(), transport.end());
  Bytes out;
  put_mac(out, spec.destination[15]);
  put_mac(out, 0x60000000U | spec.source[15]);
  put16(out, 0x86DD);
  put32(out, 0x60000000U | static_cast<std::uint32_t>(spec.traffic_class) << 20 | 0x12345);
  put16(out, static_cast<std::uint32_t>(payload.size()));
  out.push_back(spec.extensions.empty() ? spec.protocol : spec.extensions.front());
  out.push_back(spec.hop_limit);
  out.insert(out.end(), spec.source.begin(), spec.source.end());
  out.insert(out.end(), spec.destination.begin(), spec.destination.end());
  out.insert(out.end(), payload.begin(), payload.end());
  out.resize(std::max<std::size_t>(out.size(), 60));
  return out;
}

Bytes tagged(const Bytes& frame, std::uint16_t control, std::uint16_t ether_type) {
  Bytes tag;
  put16(tag, ether_type);
  put16(tag, control);
  Bytes out = frame;
  out.insert(out.begin() + 12, tag.begin(), tag.end());
  return out;
}

Bytes arp_request(std::uint32_t sender, std::uint32_t target) {
  Bytes out(6, 0xFF);
  put_mac(out, sender);
  put16(out, 0x0806);
  put16(out, 1);
  put16(out, 0x0800);
  put16(out, 0x0604);
  put16(out, ArpPacket::kRequest);
  put_mac(out, sender);
  put32(out, sender);
  out.resize(out.size() + 6);
  put32(out, target);
  out.resize(60);
  return out;
}

}  // namespace outrider
