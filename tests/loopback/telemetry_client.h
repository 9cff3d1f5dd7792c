#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/loopback/process_guard.h"

namespace outrider {

/// Closes itself.
class Socket {
 public:
  /// @param wait  longest wait for a message
  Socket(int family, int type, std::chrono::seconds wait = kPatience)
      : fd_(socket(family, type | SOCK_CLOEXEC, 0)) {
    const timeval patience{.tv_sec = wait.count(), .tv_usec = 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~Socket() { close(fd_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  template <class Address>
  [[nodiscard]] bool connect_to(const Address& address) const {
    return connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  void say(const std::string& text) const {
    ASSERT_EQ(send(fd_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  /// One message, or nothing at the end.
  [[nodiscard]] std::string hear() const {
    std::string text(65'536, '\0');
    const ssize_t n = recv(fd_, text.data(), text.size(), 0);
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return text;
  }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// A port that was free a moment ago.
inline std::uint16_t free_port() {
  const Socket probe(AF_INET, SOCK_STREAM);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  EXPECT_EQ(bind(probe.fd(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(probe.fd(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

/// What the Prometheus endpoint at the port answers within `wait`.
inline std::string scrape(std::uint16_t port, std::chrono::seconds wait = kPatience) {
  const Socket client(AF_INET, SOCK_STREAM, wait);
  if (!client.connect_to(loopback(port))) return "nobody listens";
  client.say("GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  std::string all;
  for (std::string part = client.hear(); !part.empty(); part = client.hear()) all += part;
  return all;
}

/// What DPDK's telemetry socket of a program answers to one command.
inline nlohmann::json ask(const ProcessGuard& program, const std::string& command) {
  const std::string log = program.output();
  const std::string mark = "telemetry socket ";
  const auto at = log.find(mark);
  if (at == std::string::npos) return "no socket is named";
  const auto begin = at + mark.size();
  const std::string path = log.substr(begin, log.find('\n', begin) - begin);
  const Socket client(AF_UNIX, SOCK_SEQPACKET);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  if (!client.connect_to(address)) return "cannot connect to " + path;
  static_cast<void>(client.hear());  // its greeting
  client.say(command);
  return nlohmann::json::parse(client.hear())[command.substr(0, command.find(','))];
}

}  // namespace outrider
