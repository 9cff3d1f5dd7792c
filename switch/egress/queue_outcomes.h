#pragma once

#include <cstdint>

#include "common/core/drop_reason.h"
#include "common/core/traffic_class.h"
#include "common/dpdk/packet/packet.h"
#include "switch/report/report.h"

namespace outrider::sw {

/// Acts on the verdicts on the packets of one queue: marker, regulation and parts decide; this
/// class alone sets CE, counts and drops.
class QueueOutcomes {
 public:
  void arrived(TrafficClass c) noexcept { ++counters_.arrived[c]; }
  void transmitted(TrafficClass c, std::uint32_t frame_bytes) noexcept {
    ++counters_.transmitted[c];
    counters_.transmitted_bytes[c] += frame_bytes;
  }
  /// Ends the packet, whose class is the one with which it arrived.
  [[gnu::noinline]] void drop(Packet* packet, DropReason reason) noexcept {
    ++counters_.drops[meta(*packet).traffic_class][reason];
    release(packet);
  }
  /// Sets CE, but not on Not-ECT packets, and does not count packets that have it already.
  [[gnu::noinline]] void mark(Packet& packet, MarkReason reason) noexcept;

  [[nodiscard]] const QueueCounters& counters() const noexcept { return counters_; }

 private:
  QueueCounters counters_{};
};

}  // namespace outrider::sw
