#pragma once

#include <array>
#include <cstddef>

#include "trafficgen/hosts/host.h"

namespace outrider::tg {

/// Prefetches the data that the packets of a received batch will touch. A packet reads a table,
/// then a connection, then the connection's flight, and each is found through the one before.
/// Fetched in three rounds, the cache misses of a batch overlap.
class ExpectedFlows {
 public:
  /// Adds a flow; flows beyond the size of a batch are ignored. @param flow as in the packet
  void add(Host& host, const FlowKey& flow) noexcept {
    if (size_ == flows_.size()) return;
    host.connections().table().prefetch_lookup(flow.reversed());
    flows_[size_++] = {&host, flow};
  }

  void prefetch() const noexcept {
    std::array<TcpConnection*, kMost> connections;
    for (std::size_t i = 0; i < size_; ++i)
      connections[i] = flows_[i].host->connections().table().prefetch(flows_[i].flow.reversed());
    for (std::size_t i = 0; i < size_; ++i)
      if (connections[i] != nullptr) prefetch_flight(*connections[i]);
  }

 private:
  static constexpr std::size_t kMost = 32;
  struct Expected {
    Host* host = nullptr;
    FlowKey flow;
  };
  std::array<Expected, kMost> flows_;
  std::size_t size_ = 0;
};

}  // namespace outrider::tg
