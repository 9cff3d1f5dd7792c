#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/core/figure.h"
#include "trafficgen/hosts/packet_counts.h"
#include "trafficgen/hosts/payload_report.h"
#include "trafficgen/hosts/signal_messages.h"
#include "trafficgen/measure/job_report.h"
#include "trafficgen/transport/base/tcp_counters.h"
#include "trafficgen/transport/memory/transport_memory.h"

namespace outrider::tg {

/// Everything that a generator counts of all its traffic together. Its report has these counts,
/// and so has what it shows while it runs: a counter that is added here is in both.
struct GeneratorCounts : PacketCounts,
                         NicCounts,
                         TransportMemoryCounters,
                         SignalMessages,
                         JobCounts {
  std::uint64_t consumed = 0;  ///< of those received: taken by a connection or as a signal
  TcpEvents tcp_events{};
  PayloadReport payload{};
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, GeneratorCounts>
void fields(V& v, R& r) {
  fields(v, base_of<PacketCounts>(r));
  v.value(counter("consumed", "packets", "Packets that a connection took, or that were signals")
              .as("consumed_packets"),
          r.consumed);
  fields(v, base_of<NicCounts>(r));
  fields(v, base_of<TransportMemoryCounters>(r));
  v.value("tcp_events", r.tcp_events);
  fields(v, base_of<SignalMessages>(r));
  fields(v, base_of<JobCounts>(r));
  v.value("payload", r.payload);
}

}  // namespace outrider::tg
