#pragma once

#include <array>
#include <cstdint>

#include "tools/hostagent/bpf/wire.h"

namespace outrider::agent {

/// IPv4 and TCP header without options.
using TosStart = std::array<std::uint8_t, 40>;

/// Makes a START of the TOS form (common/net/tos_signal.h): a segment of the announced flow with
/// the burst's first sequence number, no payload and no flag. The TCP of the other end ignores
/// it (RFC 9293, section 3.10.7.4), so it neither acknowledges nor repeats anything of the flow.
/// The generator's STARTs look the same.
/// @pre tos_signal::is_encodable(threshold_packets)
TosStart make_tos_start(const AgentFlowKey& flow, std::uint32_t sequence,
                        std::uint16_t threshold_packets);

/// Sends STARTs of the TOS form from this host. Throws AgentError if the host refuses a raw
/// socket.
class TosSignalSocket {
 public:
  TosSignalSocket();
  ~TosSignalSocket();
  TosSignalSocket(const TosSignalSocket&) = delete;
  TosSignalSocket& operator=(const TosSignalSocket&) = delete;

  /// Sends a START. Never waits. @return false if the host did not take it
  bool send(const AgentFlowKey& flow, std::uint32_t sequence, std::uint16_t threshold_packets);

 private:
  int fd_;
};

}  // namespace outrider::agent
