#pragma once

#include "trafficgen/transport/base/tcp_config.h"
#include "trafficgen/transport/base/tcp_counters.h"
#include "trafficgen/transport/memory/transport_memory.h"

namespace outrider::tg {

/// What both halves of one connection share.
struct TcpContext {
  const TcpConfig& config;  ///< outlives the connection
  TransportMemory& memory;  ///< outlives the connection
  TcpCounters counters{};
};

}  // namespace outrider::tg
