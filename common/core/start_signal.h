#pragma once

#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/core/flow_key.h"

namespace outrider {

/// An accepted START, as the queue that its burst will leave by hears of it: what either
/// form of the signal says.
struct StartSignal {
  FlowKey flow{};                       ///< that is announced, TCP
  std::uint32_t sequence = 0;           ///< TCP, of the burst's first byte
  std::uint16_t threshold_packets = 0;  ///< h, > 0: a START with zero arms nothing
  std::optional<std::uint64_t>
      bytes{};                ///< of the burst on this connection, > 0; absent: not known
  std::optional<Time> due{};  ///< absent: the form does not say
};

}  // namespace outrider
