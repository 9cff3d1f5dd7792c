#include "tools/hostagent/signal_socket.h"

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
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
  const std::string why = std::strerror(errno);
  close(fd);
  throw AgentError("UDP port " + std::to_string(port) + ": " + why +
                   "; ss -ulnp shows who has it, --signal-port takes another");
}

}  // namespace

SignalSocket::SignalSocket(std::uint16_t port) : port_(port), fd_(bound_socket(port)) {}

SignalSocket::~SignalSocket() { close(fd_); }

bool SignalSocket::send(const udp_signal::Signal& start, std::uint32_t source,
                        std::uint32_t destination) {
  std::array<std::uint8_t, udp_signal::kBytes> bytes{};
  udp_signal::encode(start, bytes);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port_);
  to.sin_addr.s_addr = destination;
  iovec data{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(in_pktinfo))> control{};
  msghdr message{};
  message.msg_name = &to;
  message.msg_namelen = sizeof(to);
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = IPPROTO_IP;
  header->cmsg_type = IP_PKTINFO;
  header->cmsg_len = CMSG_LEN(sizeof(in_pktinfo));
  in_pktinfo info{};
  info.ipi_spec_dst.s_addr = source;
  std::memcpy(CMSG_DATA(header), &info, sizeof(info));
  return sendmsg(fd_, &message, 0) == static_cast<ssize_t>(bytes.size());
}

std::uint64_t SignalSocket::take_acks() {
  std::uint64_t acks = 0;
  for (;;) {
    std::array<std::uint8_t, 2 * udp_signal::kBytes> bytes{};
    const ssize_t got = recv(fd_, bytes.data(), bytes.size(), 0);
    if (got < 0) return acks;
    udp_signal::Signal signal;
    const std::span<const std::uint8_t> payload(bytes.data(), static_cast<std::size_t>(got));
    const bool sound = !udp_signal::decode(payload, Duration::max(), signal);
    acks += sound && signal.kind == udp_signal::Kind::kAck ? 1 : 0;
  }
}

}  // namespace outrider::agent
