#pragma once

#include <cstdint>

#include "common/net/udp_signal.h"

namespace outrider::agent {

/// Sends STARTs from, and takes ACKs at, the signal port of this host. Throws AgentError if
/// the port is taken.
class SignalSocket {
 public:
  explicit SignalSocket(std::uint16_t port);
  ~SignalSocket();
  SignalSocket(const SignalSocket&) = delete;
  SignalSocket& operator=(const SignalSocket&) = delete;
  [[nodiscard]] int fd() const noexcept { return fd_; }

  /// From the address that the announced flow has. Never waits.
  /// @param source,destination network byte order
  /// @return false if the host did not take it
  bool send(const udp_signal::Signal& start, std::uint32_t source, std::uint32_t destination);
  /// Reads all that is there. @return how many were ACKs
  std::uint64_t take_acks();

 private:
  std::uint16_t port_;
  int fd_;
};

}  // namespace outrider::agent
