#pragma once

#include <cstdint>
#include <functional>

#include "common/core/flow_key.h"
#include "common/net/udp_signal.h"

namespace outrider::agent {

/// Sends STARTs of the UDP form from the signal port of this host and receives ACKs at it.
/// Throws AgentError if the port is in use.
class SignalSocket {
 public:
  explicit SignalSocket(std::uint16_t port);
  ~SignalSocket();
  SignalSocket(const SignalSocket&) = delete;
  SignalSocket& operator=(const SignalSocket&) = delete;
  [[nodiscard]] int fd() const noexcept { return fd_; }

  /// Sends a START from the source address of the announced flow. Never waits.
  /// @param source,destination network byte order
  /// @return false if the host did not take it
  bool send(const udp_signal::Signal& start, std::uint32_t source, std::uint32_t destination);
  /// Reads all pending messages.
  /// @param take  is called for each ACK, with addresses and ports of its datagram
  void take_acks(const std::function<void(const udp_signal::Signal&, const FlowKey&)>& take);

 private:
  std::uint16_t port_;
  int fd_;
};

}  // namespace outrider::agent
