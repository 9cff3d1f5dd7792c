#pragma once

#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/core/flow_key.h"

namespace outrider {

/// An accepted START, as the egress queue of its burst receives it. It holds what either form
/// of the signal may carry.
struct StartSignal {
  FlowKey flow{};                       ///< TCP flow that is announced
  std::uint32_t sequence = 0;           ///< TCP sequence number of the burst's first byte
  std::uint16_t threshold_packets = 0;  ///< h, > 0: a START with zero arms nothing
  std::optional<std::uint64_t>
      bytes{};                ///< of the burst on this connection, > 0; absent: not known
  std::optional<Time> due{};  ///< absent: this form of the signal does not carry it
  std::uint16_t signer = 0;   ///< number of a signer with a share of its own; 0: of none
};

}  // namespace outrider
