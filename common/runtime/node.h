#pragma once

#include <cstdint>

#include "common/core/clock.h"
#include "common/dpdk/packet.h"

namespace outrider {

/// Where a link ends: a switch, a host, or a device at the edge of the process.
class Node {
 public:
  /// Takes ownership of the packet. @param port which of the node's ports
  virtual void receive(std::uint32_t port, Packet* packet, Time now) noexcept = 0;

 protected:
  Node() = default;
  Node(const Node&) = default;
  Node& operator=(const Node&) = default;
  ~Node() = default;
};

}  // namespace outrider
