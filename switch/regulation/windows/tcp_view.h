#pragma once

#include <cstdint>

#include "common/core/flow_key.h"

namespace outrider {

/// The fields of a TCP segment that a switch reads in passing; host byte order.
struct TcpView {
  FlowKey flow;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgment = 0;  ///< meaningful only with `ack`
  std::uint16_t window = 0;          ///< as on the wire, before scaling
  std::uint16_t payload_bytes = 0;
  std::uint32_t frame_bytes = 0;
  bool syn = false;
  bool ack = false;
  bool fin = false;
  bool rst = false;
  bool sack_blocks = false;       ///< SACK option: reports data beyond a hole (RFC 2018)
  bool authenticated = false;     ///< MD5 (RFC 2385) or TCP-AO (RFC 5925): must not be rewritten
  bool timestamps = false;        ///< option present (RFC 7323, 3)
  std::uint32_t ts_value = 0;     ///< TSval, with `timestamps`
  std::uint32_t ts_echo = 0;      ///< TSecr, with `timestamps` and `ack`
  std::int8_t window_scale = -1;  ///< of a SYN (RFC 7323, 2); -1: option absent
};

}  // namespace outrider
