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
#include "common/dpdk/packet/packet.h"
#include "common/net/headers.h"
#include "common/net/tos_signal.h"
#include "common/runtime/node.h"

namespace outrider {

/// Parses an address such as "10.0.1.2" to host byte order. @throws std::invalid_argument
std::uint32_t ip(std::string_view text);

/// A frame as a test describes it. bytes_of() writes it byte by byte from the RFCs, without the
/// code under test.
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
  std::optional<BurstIdentity> identity{};  ///< written as a TCP option after tcp_options
};

/// Returns the whole frame, of at least 60 bytes, with a payload of zeros and correct checksums.
std::vector<std::uint8_t> bytes_of(const FrameSpec& spec);

/// Returns the Internet checksum of `bytes` (RFC 1071), from words in network order.
std::uint16_t internet_checksum(std::span<const std::uint8_t> bytes, std::uint32_t sum = 0);
/// Writes the correct IPv4 checksum after a test has changed the header.
void reseal_ipv4(std::vector<std::uint8_t>& frame);

/// Returns a packet with these bytes as a device or a host would hand it over. It holds only as
/// many bytes as a buffer of the pool; the rest of a frame is payload.
Packet* packet_of(rte_mempool& pool, std::span<const std::uint8_t> frame);
Packet* make_packet(rte_mempool& pool, const FrameSpec& spec);

/// Returns the TOS byte of a START or of its ACK.
std::uint8_t start_tos(std::uint16_t threshold_packets, Ecn ecn = Ecn::kNotEct);
std::uint8_t ack_tos(std::uint16_t threshold_packets, Ecn ecn = Ecn::kNotEct);

/// The fields of a packet when it arrived.
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
  bool checksum_valid = false;      ///< of the IPv4 header, by an independent computation
  std::vector<std::uint8_t> bytes;  ///< content of the buffer

  [[nodiscard]] Ecn ecn() const { return ecn_of(tos); }
};

/// Reads a packet without the code under test. The caller keeps the packet.
Arrival arrival_of(Packet& packet, std::uint32_t port, Time now);

/// The far end of a link. It records the packets that arrive and releases them.
class Collector final : public Node {
 public:
  void receive(std::uint32_t port, Packet* packet, Time now) noexcept override;

  [[nodiscard]] std::size_t size() const { return arrivals.size(); }
  [[nodiscard]] std::size_t count(const std::function<bool(const Arrival&)>& matches) const;

  std::vector<Arrival> arrivals;
};

}  // namespace outrider
