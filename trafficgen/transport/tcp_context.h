#pragma once

#include "trafficgen/transport/tcp_config.h"
#include "trafficgen/transport/tcp_counters.h"
#include "trafficgen/transport/transport_memory.h"

namespace outrider {

/// What both halves of one connection share.
struct TcpContext {
  const TcpConfig& config;  ///< outlives the connection
  TransportMemory& memory;  ///< outlives the connection
  TcpCounters counters{};
};

}  // namespace outrider
