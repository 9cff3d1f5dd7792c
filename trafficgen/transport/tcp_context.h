#pragma once

#include "trafficgen/transport/connection/transport_memory.h"
#include "trafficgen/transport/tcp_config.h"
#include "trafficgen/transport/tcp_counters.h"

namespace outrider::tg {

/// What both halves of one connection share.
struct TcpContext {
  const TcpConfig& config;  ///< outlives the connection
  TransportMemory& memory;  ///< outlives the connection
  TcpCounters counters{};
};

}  // namespace outrider::tg
