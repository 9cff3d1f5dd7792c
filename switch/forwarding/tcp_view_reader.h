#pragma once

#include <cassert>
#include <cstdint>
#include <span>

#include "common/core/flow_key.h"
#include "common/net/headers.h"
#include "switch/regulation/windows/tcp_view.h"

namespace outrider {

/// Reads into `view` what the options of a TCP header say. Options behind one of impossible
/// length are ignored.
void read_tcp_options(std::span<const std::uint8_t> options, TcpView& view) noexcept;

/// Reads the fields of a passing TCP segment that a switch needs. Inline, because most
/// segments of a bulk transfer have no options.
/// @param header the whole TCP header with its options; lengths were checked
/// @param frame_bytes of the frame on the wire, as the queue counts it
[[nodiscard]] inline TcpView read_tcp_view(std::span<const std::uint8_t> header,
                                           const FlowKey& flow, std::uint16_t payload_bytes,
                                           std::uint32_t frame_bytes) noexcept {
  assert(header.size() >= sizeof(TcpHeader));
  const auto& tcp = *reinterpret_cast<const TcpHeader*>(header.data());
  TcpView view{.flow = flow,
               .sequence = tcp.sequence.get(),
               .acknowledgment = tcp.acknowledgment.get(),
               .window = tcp.window.get(),
               .payload_bytes = payload_bytes,
               .frame_bytes = frame_bytes,
               .syn = (tcp.flags & kTcpSyn) != 0,
               .ack = (tcp.flags & kTcpAck) != 0,
               .fin = (tcp.flags & kTcpFin) != 0,
               .rst = (tcp.flags & kTcpRst) != 0};
  if (header.size() > sizeof(TcpHeader)) read_tcp_options(header.subspan(sizeof(TcpHeader)), view);
  return view;
}

}  // namespace outrider
