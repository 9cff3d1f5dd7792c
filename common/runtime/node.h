#pragma once

#include <cstdint>

#include "common/core/clock.h"
#include "common/dpdk/packet/packet.h"

namespace outrider {

/// The end of a link: a switch, a host, or a device at the edge of the process.
class Node {
 public:
  /// Receives a packet and takes ownership. @param port the node's port that it arrives at
  virtual void receive(std::uint32_t port, Packet* packet, Time now) noexcept = 0;

 protected:
  Node() = default;
  Node(const Node&) = default;
  Node& operator=(const Node&) = default;
  ~Node() = default;
};

}  // namespace outrider
