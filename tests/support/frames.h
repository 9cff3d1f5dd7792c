#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/core/burst_identity.h"
#include "common/core/clock.h"
#include "common/core/ecn.h"
#include "common/core/flow_key.h"
#include "common/dpdk/packet.h"
#include "common/net/headers.h"
#include "common/net/tos_signal.h"
#include "common/runtime/node.h"

namespace outrider {

/// "10.0.1.2" -> host byte order. @throws std::invalid_argument
std::uint32_t ip(std::string_view text);

/// A frame as a test describes it, written byte by byte from the RFCs and not
/// with the code under test.
struct FrameSpec {
  FlowKey flow{0x0A000101, 0x0A000301, 40'000, 5000};
  std::uint8_t tos = 0;
  std::uint8_t ttl = 64;
  std::uint8_t protocol = kIpProtocolTcp;
  std::uint16_t fragment = 0x4000;  ///< flags and offset, as on the wire
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgment = 0;
  std::uint16_t window = 0xFFFF;
  std::uint8_t tcp_flags = kTcpAck;
  std::uint16_t payload_bytes = 0;
  std::vector<std::uint8_t> ip_options{};   ///< padded to a multiple of 4
  std::vector<std::uint8_t> tcp_options{};  ///< padded to a multiple of 4
  std::optional<BurstIdentity> identity{};  ///< as a TCP option, behind tcp_options
};

/// The whole frame, payload zeros, at least 60 bytes, all checksums right.
std::vector<std::uint8_t> bytes_of(const FrameSpec& spec);

/// Internet checksum of `bytes` as RFC 1071 puts it: words in network order.
std::uint16_t internet_checksum(std::span<const std::uint8_t> bytes, std::uint32_t sum = 0);
/// Writes the IPv4 checksum anew, after a test has changed the header.
void reseal_ipv4(std::vector<std::uint8_t>& frame);

/// A packet with these bytes, cut to what the pool's buffers hold (the rest of a
/// frame is payload), as a device or a host would hand it over.
Packet* packet_of(rte_mempool& pool, std::span<const std::uint8_t> frame);
Packet* make_packet(rte_mempool& pool, const FrameSpec& spec);

/// START or its ACK, as TOS byte.
std::uint8_t start_tos(std::uint16_t threshold_packets, Ecn ecn = Ecn::kNotEct);
std::uint8_t ack_tos(std::uint16_t threshold_packets, Ecn ecn = Ecn::kNotEct);

/// What a packet looked like when it arrived.
struct Arrival {
  Time at{};
  std::uint32_t port = 0;
  FlowKey flow;
  std::uint8_t tos = 0;
  std::uint8_t ttl = 0;
  std::uint8_t tcp_flags = 0;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgment = 0;
  std::uint16_t window = 0;
  std::uint16_t payload_bytes = 0;
  std::uint32_t frame_bytes = 0;
  bool checksum_valid = false;      ///< of the IPv4 header, by an independent sum
  std::vector<std::uint8_t> bytes;  ///< of the buffer

  [[nodiscard]] Ecn ecn() const { return ecn_of(tos); }
};

/// Reads it without the code under test; the packet stays with the caller.
Arrival arrival_of(Packet& packet, std::uint32_t port, Time now);

/// The far end of a link: notes what comes and releases it.
class Collector final : public Node {
 public:
  void receive(std::uint32_t port, Packet* packet, Time now) noexcept override;

  [[nodiscard]] std::size_t size() const { return arrivals.size(); }
  [[nodiscard]] std::size_t count(const std::function<bool(const Arrival&)>& matches) const;

  std::vector<Arrival> arrivals;
};

}  // namespace outrider
