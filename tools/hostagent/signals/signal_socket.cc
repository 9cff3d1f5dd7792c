#include "tools/hostagent/signals/signal_socket.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "tools/hostagent/agent_error.h"

namespace outrider::agent {
namespace {

int bound_socket(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) throw AgentError(std::string("no UDP socket: ") + std::strerror(errno));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  const int on = 1;
  if (setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on)) == 0 &&
      bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0)
    return fd;
  const std::string why = std::strerror(errno);
  close(fd);
  throw AgentError("UDP port " + std::to_string(port) + ": " + why +
                   "; ss -ulnp shows who has it, --signal-port takes another");
}

/// A datagram with its peer and the local address, as sendmsg() and recvmsg() want it. It points
/// into itself.
struct Datagram {
  explicit Datagram(std::span<std::uint8_t> bytes) : data{bytes.data(), bytes.size()} {
    message.msg_name = &peer;
    message.msg_namelen = sizeof(peer);
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  }
  Datagram(const Datagram&) = delete;
  Datagram& operator=(const Datagram&) = delete;

  /// @param source  of a datagram to be sent, network byte order
  void leave_from(std::uint32_t source) {
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = IPPROTO_IP;
    header->cmsg_type = IP_PKTINFO;
    header->cmsg_len = CMSG_LEN(sizeof(in_pktinfo));
    in_pktinfo info{};
    info.ipi_spec_dst.s_addr = source;
    std::memcpy(CMSG_DATA(header), &info, sizeof(info));
  }
  /// Returns the address that a received datagram was sent to, in the host's byte order; 0:
  /// unknown.
  [[nodiscard]] std::uint32_t sent_to() const {
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_level != IPPROTO_IP || header->cmsg_type != IP_PKTINFO)
      return 0;
    in_pktinfo info{};
    std::memcpy(&info, CMSG_DATA(header), sizeof(info));
    return ntohl(info.ipi_addr.s_addr);
  }

  sockaddr_in peer{};
  iovec data;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(in_pktinfo))> control{};
  msghdr message{};
};

}  // namespace

SignalSocket::SignalSocket(std::uint16_t port) : port_(port), fd_(bound_socket(port)) {}

SignalSocket::~SignalSocket() { close(fd_); }

bool SignalSocket::send(const udp_signal::Signal& start, std::uint32_t source,
                        std::uint32_t destination) {
  std::array<std::uint8_t, udp_signal::kBytes> bytes{};
  udp_signal::encode(start, bytes);
  Datagram datagram(bytes);
  datagram.peer.sin_family = AF_INET;
  datagram.peer.sin_port = htons(port_);
  datagram.peer.sin_addr.s_addr = destination;
  datagram.leave_from(source);
  return sendmsg(fd_, &datagram.message, 0) == static_cast<ssize_t>(bytes.size());
}

void SignalSocket::take_acks(
    const std::function<void(const udp_signal::Signal&, const FlowKey&)>& take) {
  for (;;) {
    std::array<std::uint8_t, 2 * udp_signal::kBytes> bytes{};
    Datagram datagram(bytes);
    const ssize_t got = recvmsg(fd_, &datagram.message, 0);
    if (got < 0) return;
    udp_signal::Signal signal;
    const std::span<const std::uint8_t> payload(bytes.data(), static_cast<std::size_t>(got));
    if (udp_signal::decode(payload, Duration::max(), signal)) continue;
    if (signal.kind != udp_signal::Kind::kAck) continue;
    const sockaddr_in& from = datagram.peer;
    take(signal, {ntohl(from.sin_addr.s_addr), datagram.sent_to(), ntohs(from.sin_port), port_});
  }
}

}  // namespace outrider::agent
