#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "common/core/signal_key.h"
#include "common/net/hop_trace.h"
#include "common/net/roce_telemetry.h"
#include "common/net/signal_tag.h"
#include "common/net/udp_signal.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/support/byte_writer.h"
#include "tests/support/frames.h"
#include "tests/support/ipv6_frames.h"

namespace outrider::fuzz {

inline constexpr std::uint16_t kProbePort = 6000;
inline constexpr SignalKey kSignalKey{3, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};

/// Makes frames of a fuzzer's bytes: most have plausible headers, whose numbers follow those of
/// the frames before; then some bytes of them are changed. Others are the input's bytes as they
/// are.
class FuzzFrames {
 public:
  /// @param addresses,ports  that frames come from and go to
  FuzzFrames(std::span<const std::uint32_t> addresses, std::span<const std::uint16_t> ports)
      : addresses_(addresses), ports_(ports) {}

  /// Makes the next frame, of at most about 1,500 bytes. @param now  for signatures
  Bytes next(FuzzInput& in, Time now) {
    const std::uint8_t kind = in.byte();
    Bytes frame = plain(in, kind % 16, now);
    if ((kind & 16) != 0 && frame.size() >= 2 * sizeof(MacAddress))
      frame = tagged(frame, in.take<std::uint16_t>());
    if ((kind & 32) != 0) change(in, frame, (kind & 64) != 0);
    return frame;
  }

  /// Takes the numbers of a frame that somebody else has sent: answers to it fit. Anything may
  /// be behind the headers that it names.
  void hear(const Arrival& a) {
    const bool counts = (a.tcp_flags & (kTcpSyn | kTcpFin)) != 0;
    next_of(a.flow) = a.sequence + a.payload_bytes + (counts ? 1 : 0);
    if ((a.tcp_flags & kTcpAck) != 0) next_of(a.flow.reversed()) = a.acknowledgment;
    heard_[heard_frames_++ % heard_.size()] = a.flow;
  }

  /// Makes a frame that asks for pauses of priorities, or nearly one, without the code under test
  /// (IEEE 802.3, annex 31D): MAC control, opcode of PFC, class-enable vector, eight quanta.
  static Bytes pause(FuzzInput& in) {
    Bytes frame{1, 0x80, 0xC2, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x88, 0x08, 1, 1, 0, in.byte()};
    const std::uint8_t how = in.byte();
    std::uint16_t quanta = in.take<std::uint16_t>();
    for (int priority = 0; priority < 8; ++priority) {
      if ((how & 1) != 0 && priority > 0) quanta = in.take<std::uint16_t>();
      frame.push_back(static_cast<std::uint8_t>(quanta >> 8));
      frame.push_back(static_cast<std::uint8_t>(quanta));
    }
    frame.resize(60);
    if ((how & 6) == 6) change(in, frame, false);
    if ((how & 24) == 24) frame.resize(in.byte() % 61U);
    return frame;
  }

  /// Writes a whole UDP frame without the code under test.
  static Bytes udp(const FlowKey& flow, std::span<const std::uint8_t> payload) {
    FrameSpec spec{.flow = flow, .protocol = kIpProtocolUdp};
    spec.payload_bytes = static_cast<std::uint16_t>(std::max<std::size_t>(payload.size(), 12) - 12);
    Bytes frame = bytes_of(spec);
    constexpr std::size_t kUdp = sizeof(EthernetHeader) + sizeof(Ipv4Header);
    const auto put = [&frame](std::size_t at, std::size_t v) {
      frame[at] = static_cast<std::uint8_t>(v >> 8);
      frame[at + 1] = static_cast<std::uint8_t>(v);
    };
    put(kUdp + 4, 8 + payload.size());
    put(kUdp + 6, 0);  // no checksum (RFC 768)
    frame.resize(std::max<std::size_t>(kUdp + 8 + payload.size(), 60));
    std::ranges::copy(payload, frame.begin() + kUdp + 8);
    put(sizeof(EthernetHeader) + 2, sizeof(Ipv4Header) + 8 + payload.size());
    reseal_ipv4(frame);
    return frame;
  }

 private:
  Bytes plain(FuzzInput& in, std::uint8_t kind, Time now) {
    switch (kind) {
      case 0:
        return raw(in, in.byte());
      case 1:
        return tos_signal(in);
      case 2:
      case 3:
        return message(in, now);
      case 4:
        return probe(in);
      case 5:
        return arp_request(address(in), address(in));
      case 6:
        return ipv6(in);
      case 7:
        return udp(flow(in), raw(in, in.byte()));
      default:
        return segment(in, kind);
    }
  }

  std::uint32_t address(FuzzInput& in) { return addresses_[in.byte() % addresses_.size()]; }
  std::uint16_t port(FuzzInput& in) { return ports_[in.byte() % ports_.size()]; }
  FlowKey flow(FuzzInput& in) {
    const std::uint8_t which = in.byte();
    if (which >= 192 && heard_frames_ > 0)
      return heard_[which % std::min(heard_frames_, heard_.size())].reversed();
    return {addresses_[which % addresses_.size()], address(in), port(in), port(in)};
  }
  /// The number that a flow's next byte has, as far as frames told. Flows may share it.
  std::uint32_t& next_of(const FlowKey& f) {
    return next_[(f.source_address * 7 + f.destination_address * 31 + f.source_port * 3U +
                  f.destination_port * 5U) %
                 next_.size()];
  }

  static Bytes raw(FuzzInput& in, std::size_t bytes) {
    bytes = std::min(bytes, in.left());
    Bytes out(in.data(), in.data() + bytes);
    for (std::size_t i = 0; i < bytes; ++i) (void)in.byte();
    return out;
  }

  Bytes segment(FuzzInput& in, std::uint8_t kind) {
    constexpr std::array<std::uint8_t, 8> kFlags{
        kTcpAck,           kTcpAck, kTcpSyn,           kTcpSyn | kTcpAck,
        kTcpFin | kTcpAck, kTcpRst, kTcpRst | kTcpAck, 0};
    FrameSpec spec{.flow = flow(in)};
    const std::uint8_t how = in.byte();
    spec.tcp_flags = kFlags[how % 8];
    if (kind == 15) spec.tcp_flags = in.byte();
    std::uint32_t& next = next_of(spec.flow);
    spec.sequence = next;
    spec.acknowledgment = next_of(spec.flow.reversed());
    if ((how & 8) != 0) spec.sequence += near(in);
    if ((how & 16) != 0) spec.acknowledgment += near(in);
    if ((how & 32) != 0) spec.window = in.take<std::uint16_t>();
    if ((how & 64) != 0) spec.tcp_options = raw(in, in.byte() % 40U / 4 * 4);
    if ((how & 128) != 0) spec.tos = in.byte();
    if (kind == 8) spec.ttl = in.byte();
    if (kind == 9 && spec.tcp_options.size() <= 24)
      spec.identity = {static_cast<std::uint16_t>(in.byte() % 2), 0, in.byte(), {}};
    if (kind >= 10 && kind < 15) {
      spec.payload_bytes = static_cast<std::uint16_t>(kind < 13 ? 1400 : 1 + in.byte());
      if ((how & 8) == 0) next += spec.payload_bytes;
    }
    if ((spec.tcp_flags & (kTcpSyn | kTcpFin)) != 0 && (how & 8) == 0) ++next;
    return bytes_of(spec);
  }

  static std::uint32_t near(FuzzInput& in) {
    const auto by = static_cast<std::uint32_t>(in.take<std::int8_t>());
    return by << in.byte() % 25;
  }

  Bytes tos_signal(FuzzInput& in) {
    FrameSpec spec{.flow = flow(in), .tos = in.byte()};
    spec.sequence = next_of(spec.flow) + in.byte() * 16U;
    spec.tcp_flags = 0;
    return bytes_of(spec);
  }

  Bytes message(FuzzInput& in, Time now) {
    const FlowKey announced = flow(in);
    const std::uint8_t how = in.byte();
    udp_signal::Signal s{.threshold_packets = static_cast<std::uint16_t>(1 + in.byte()),
                         .burst_bytes = std::uint64_t{in.take<std::uint16_t>()} << (how >> 6) * 4U,
                         .due_in = std::chrono::microseconds(in.take<std::uint16_t>()),
                         .source_port = std::max<std::uint16_t>(1, announced.source_port),
                         .destination_port = std::max<std::uint16_t>(1, announced.destination_port),
                         .sequence = next_of(announced),
                         .counter = static_cast<std::uint64_t>(now.time_since_epoch().count())};
    const FlowKey datagram{announced.source_address, announced.destination_address,
                           udp_signal::kDefaultPort, udp_signal::kDefaultPort};
    if ((how & 2) != 0) s.counter += in.byte();
    if ((how & 4) != 0) {
      s.proof.emplace();
      sign(s, kSignalKey, datagram);
    }
    if ((how & 1) != 0) s.kind = udp_signal::Kind::kAck;  // it repeats the tag of its START
    std::array<std::uint8_t, udp_signal::kBytes> bytes{};
    encode(s, bytes);
    if ((how & 24) == 24) bytes[in.byte() % bytes.size()] ^= 1 + in.byte() % 255;
    return udp(datagram,
               std::span(bytes).first(bytes.size() - ((how & 32) != 0 ? in.byte() % 64U : 0)));
  }

  /// A packet of RoCEv2 with telemetry, which may be cut.
  Bytes telemetry(FuzzInput& in) {
    std::array<std::uint8_t, roce::kMaxHeaderBytes + roce::kTelemetryBytes> head{};
    const auto opcode = static_cast<roce::Opcode>(in.byte() % 12U);
    const std::uint32_t headers =
        roce::encode({.opcode = opcode}, std::span(head).first<roce::kMaxHeaderBytes>());
    const std::uint32_t bytes = roce::add_telemetry(head, headers, roce::empty_telemetry());
    head[headers + in.byte() % 4U] ^= in.byte();
    Bytes payload(head.begin(), head.begin() + bytes);
    payload.resize(bytes - 4U + in.byte() % 16U);
    FlowKey to = flow(in);
    to.destination_port = roce::kPort;
    return udp(to, payload);
  }

  Bytes probe(FuzzInput& in) {
    const std::uint8_t length = in.byte();
    if (length >= 195) return telemetry(in);
    Bytes payload(hop_trace::kPayloadOffset + hop_trace::kHeaderBytes + length % 65U);
    payload[hop_trace::kPayloadOffset] = hop_trace::kMagic >> 8;
    payload[hop_trace::kPayloadOffset + 1] = hop_trace::kMagic & 0xFF;
    payload[hop_trace::kPayloadOffset + 2] = in.byte();
    payload[hop_trace::kPayloadOffset + 3] = in.byte();
    FlowKey to = flow(in);
    to.destination_port = kProbePort;
    return udp(to, payload);
  }

  static Bytes ipv6(FuzzInput& in) {
    Ipv6FrameSpec spec{.traffic_class = in.byte(), .hop_limit = in.byte()};
    const std::uint8_t how = in.byte();
    spec.protocol = (how & 1) != 0 ? kIpProtocolUdp : kIpProtocolTcp;
    spec.payload_bytes = static_cast<std::uint16_t>((how & 2) != 0 ? 1000 : 0);
    spec.tcp_flags = in.byte();
    for (unsigned i = 0; i < (how >> 2) % 8U; ++i) spec.extensions.push_back(in.byte());
    return ipv6_bytes_of(spec);
  }

  static void change(FuzzInput& in, Bytes& frame, bool reseal) {
    for (unsigned n = 1 + in.byte() % 4U; n > 0 && !frame.empty(); --n) {
      const std::size_t at = in.byte() % std::min<std::size_t>(frame.size(), 128);
      frame[at] = static_cast<std::uint8_t>(frame[at] ^ in.byte());
    }
    if (in.byte() >= 224) frame.resize(std::min<std::size_t>(frame.size(), in.byte()));
    constexpr std::size_t kIp = sizeof(EthernetHeader);
    if (reseal && frame.size() >= 60 && frame.size() >= kIp + (frame[kIp] & 0x0FU) * 4U &&
        (frame[kIp] & 0x0F) >= 5)
      reseal_ipv4(frame);
  }

  std::span<const std::uint32_t> addresses_;
  std::span<const std::uint16_t> ports_;
  std::array<std::uint32_t, 64> next_{};
  std::array<FlowKey, 16> heard_{};
  std::size_t heard_frames_ = 0;
};

}  // namespace outrider::fuzz
