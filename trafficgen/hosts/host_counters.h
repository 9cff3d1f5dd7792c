#pragma once

#include <cstdint>

#include "common/core/drop_reason.h"
#include "common/core/per_reason.h"
#include "common/dpdk/packet.h"
#include "trafficgen/hosts/payload_report.h"
#include "trafficgen/hosts/signal_messages.h"

namespace outrider::tg {

/// Counts packets of one host. Identity: received == to_connections + signals_taken +
/// datagrams_taken + pauses_taken + sum(drops), where connections in TIME-WAIT count as
/// connections.
struct HostCounters : SignalMessages {
  std::uint64_t sent = 0;
  std::uint64_t sent_bytes = 0;  ///< frames without FCS
  std::uint64_t received = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t to_connections = 0;
  std::uint64_t signals_taken = 0;
  std::uint64_t datagrams_taken = 0;  ///< by endpoints, see DatagramEndpoint
  std::uint64_t pauses_taken = 0;     ///< pause frames (PFC), if some flow has a priority
  std::uint64_t paused_ns = 0;  ///< time in which they stopped a priority, summed over priorities
  PerReason<DropReason> drops{};
  std::uint64_t mbuf_exhausted = 0;
  std::uint64_t device_full_waits = 0;
  std::uint64_t resets_sent = 0;
  PayloadReport payload;  ///< only with Payload::kPattern

  void count_sent(const Packet& packet) noexcept {
    ++sent;
    sent_bytes += meta(packet).frame_bytes;
  }
  void count_received(const Packet& packet) noexcept {
    ++received;
    received_bytes += meta(packet).frame_bytes;
  }
};

}  // namespace outrider::tg
