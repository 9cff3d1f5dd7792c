#pragma once

#include "trafficgen/transport/base/tcp_config.h"
#include "trafficgen/transport/base/tcp_counters.h"
#include "trafficgen/transport/memory/transport_memory.h"

namespace outrider::tg {

/// State shared by both halves of one connection.
struct TcpContext {
  const TcpConfig& config;  ///< outlives the connection
  TransportMemory& memory;  ///< outlives the connection
  TcpCounters counters{};
};

}  // namespace outrider::tg
