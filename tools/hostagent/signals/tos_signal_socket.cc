#include "tools/hostagent/signals/tos_signal_socket.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <string>

#include "common/net/checksum.h"
#include "common/net/headers.h"
#include "common/net/tcp_segment.h"
#include "common/net/tos_signal.h"
#include "tools/hostagent/agent_error.h"

namespace outrider::agent {
namespace {

constexpr std::uint8_t kTtl = 64;
constexpr std::size_t kTcpBytes = 20;
constexpr std::size_t kTcpChecksumOffset = 16;
static_assert(sizeof(Ipv4Header) + kTcpBytes == std::tuple_size_v<TosStart>);

Ipv4Header ip_header(const AgentFlowKey& flow, std::uint8_t tos) {
  Ipv4Header ip{};
  ip.version_and_length = 0x45;
  ip.tos = tos;
  ip.total_length.set(std::tuple_size_v<TosStart>);
  ip.ttl = kTtl;
  ip.protocol = kIpProtocolTcp;
  ip.source.set(ntohl(flow.source_address));
  ip.destination.set(ntohl(flow.destination_address));
  const std::uint16_t checksum = ipv4_checksum(ip);
  std::memcpy(ip.checksum.raw.data(), &checksum, sizeof(checksum));
  return ip;
}

}  // namespace

TosStart make_tos_start(const AgentFlowKey& flow, std::uint32_t sequence,
                        std::uint16_t threshold_packets) {
  TosStart packet{};
  const Ipv4Header ip =
      ip_header(flow, tos_signal::encode({tos_signal::Kind::kStart, threshold_packets}, 0));
  std::memcpy(packet.data(), &ip, sizeof(ip));
  const auto tcp = std::span(packet).subspan<sizeof(ip)>();
  TcpSegment segment;
  segment.sequence = sequence;
  const auto encoded =
      encode_tcp(segment, ntohs(flow.source_port), ntohs(flow.destination_port), tcp);
  const auto checksum = static_cast<std::uint16_t>(
      ~checksum_fold(encoded.sum + tcp_pseudo_header_sum(ip, kTcpBytes)));
  std::memcpy(tcp.data() + kTcpChecksumOffset, &checksum, sizeof(checksum));
  return packet;
}

// IPPROTO_RAW makes the kernel take packets that include their IP header.
TosSignalSocket::TosSignalSocket()
    : fd_(socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_RAW)) {
  if (fd_ < 0)
    throw AgentError(std::string("no raw socket for signals of the TOS form: ") +
                     std::strerror(errno) + "; run as root, or with CAP_NET_RAW");
}

TosSignalSocket::~TosSignalSocket() { close(fd_); }

bool TosSignalSocket::send(const AgentFlowKey& flow, std::uint32_t sequence,
                           std::uint16_t threshold_packets) {
  const TosStart packet = make_tos_start(flow, sequence, threshold_packets);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = flow.destination_address;
  return sendto(fd_, packet.data(), packet.size(), 0, reinterpret_cast<const sockaddr*>(&to),
                sizeof(to)) == static_cast<ssize_t>(packet.size());
}

}  // namespace outrider::agent
