#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/dpdk/packet/packet.h"
#include "trafficgen/hosts/packet_counts.h"
#include "trafficgen/hosts/payload_report.h"
#include "trafficgen/hosts/signal_messages.h"

namespace outrider::tg {

/// Counts packets of one host; its bytes are of frames without FCS. Identity: received ==
/// to_connections + signals_taken + datagrams_taken + pauses_taken + sum(drops), where connections
/// in TIME-WAIT count as connections.
struct HostCounters : PacketCounts, ByteCounts, NicCounts, SignalMessages {
  std::uint64_t to_connections = 0;
  std::uint64_t signals_taken = 0;
  std::uint64_t datagrams_taken = 0;  ///< by endpoints, see DatagramEndpoint
  std::uint64_t resets_sent = 0;
  PayloadReport payload;  ///< only with Payload::kPattern

  [[nodiscard]] std::uint64_t consumed() const noexcept {
    return to_connections + signals_taken + datagrams_taken + pauses_taken;
  }
  void count_sent(const Packet& packet) noexcept {
    ++sent;
    sent_bytes += meta(packet).frame_bytes;
  }
  void count_received(const Packet& packet) noexcept {
    ++received;
    received_bytes += meta(packet).frame_bytes;
  }
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, HostCounters>
void fields(V& v, R& r) {
  fields(v, base_of<PacketCounts>(r));
  fields(v, base_of<ByteCounts>(r));
  fields(v, base_of<NicCounts>(r));
  fields(v, base_of<SignalMessages>(r));
  v.value(counter("to_connections", "packets", "Packets that connections took"), r.to_connections);
  v.value(counter("signals_taken", "packets", "Packets that were taken as signals"),
          r.signals_taken);
  v.value(counter("datagrams_taken", "packets", "Datagrams that their endpoints took"),
          r.datagrams_taken);
  v.value(counter("resets_sent", "packets", "Segments with RST in answer to strays"),
          r.resets_sent);
  v.value("payload", r.payload);
}

}  // namespace outrider::tg
