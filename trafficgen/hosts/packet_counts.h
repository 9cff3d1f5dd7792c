#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/core/drop_reason.h"
#include "common/core/figure.h"
#include "common/core/per_reason.h"

namespace outrider::tg {

/// Counts packets of one host or of all. The rows are those of report, telemetry and Prometheus.
struct PacketCounts {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  PerReason<DropReason> drops{};
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, PacketCounts>
void fields(V& v, R& r) {
  v.value(counter("sent", "packets", "Packets that left").as("sent_packets"), r.sent);
  v.value(counter("received", "packets", "Packets that arrived").as("received_packets"),
          r.received);
  v.value(counter("drops", "packets", "Packets that were dropped"), r.drops);
}

/// The bytes of these packets, as frames.
struct ByteCounts {
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, ByteCounts>
void fields(V& v, R& r) {
  v.value(counter("sent_bytes", "bytes", "Frames that left, FCS included"), r.sent_bytes);
  v.value(counter("received_bytes", "bytes", "Frames that arrived, FCS included"),
          r.received_bytes);
}

/// Counts what NICs of hosts waited for.
struct NicCounts {
  std::uint64_t pauses_taken = 0;       ///< pause frames (PFC), if some flow has a priority
  std::uint64_t paused_ns = 0;          ///< time in which they stopped a priority, summed
  std::uint64_t mbuf_exhausted = 0;     ///< how often a NIC had to wait for a buffer
  std::uint64_t device_full_waits = 0;  ///< how often a NIC had to wait for its device
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, NicCounts>
void fields(V& v, R& r) {
  v.value(counter("pauses_taken", "frames", "Pause frames that were obeyed"), r.pauses_taken);
  v.value(counter("paused_ns", "ns", "Time in which pause frames stopped a priority, summed"),
          r.paused_ns);
  v.value(counter("mbuf_exhausted", "times", "Times that a NIC had to wait for a packet buffer"),
          r.mbuf_exhausted);
  v.value(counter("device_full_waits", "times", "Times that a NIC had to wait for its device"),
          r.device_full_waits);
}

}  // namespace outrider::tg
