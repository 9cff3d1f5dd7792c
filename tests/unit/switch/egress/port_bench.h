#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "switch/egress/egress_port.h"
#include "switch/forwarding/parse.h"
#include "tests/unit/switch/switch_bench.h"

namespace outrider {

/// A single port that gets packet by packet; each packet names its queue.
struct PortBench {
  static constexpr Duration kFrameTime = SwitchBench::kFrameTime;

  explicit PortBench(const sw::SwitchPortConfig& config, const sw::EgressPort::Limits& limits = {})
      : port(config, loop, limits), link(loop, Duration::zero(), out, 0) {
    port.transmitter().output().connect(link);
  }
  ~PortBench() {
    port.flush();
    link.flush();
  }
  void send(unsigned queue, Ecn ecn, Time now, std::uint16_t payload = SwitchBench::kPayload) {
    FrameSpec spec = SwitchBench::background("10.0.3.9", ecn);
    spec.payload_bytes = payload;
    spec.flow.source_port = static_cast<std::uint16_t>(30'000 + queue);
    Packet* packet = make_packet(pool.get(), spec);
    ASSERT_EQ(sw::parse(*packet).kind, FrameKind::kIpv4);
    meta(*packet).queue = static_cast<std::uint8_t>(queue);
    loop.run_until(now);
    port.enqueue(packet, false, now);
  }
  void run() { loop.run_until(kNever - std::chrono::nanoseconds(1)); }
  std::vector<sw::QueueReport> reports() const {
    std::vector<sw::QueueReport> r;
    append_reports(port, r, {});
    return r;
  }
  std::uint64_t drops(unsigned queue, DropReason reason) const {
    return reports()[queue].drops[TrafficClass::kBackground][static_cast<std::size_t>(reason)];
  }
  std::uint64_t marks(unsigned queue) const {
    return reports()[queue].marks[TrafficClass::kBackground][MarkReason::kMarker];
  }
  bool balanced() const {
    for (const auto& q : reports())
      for (std::size_t c = 0; c < kTrafficClasses; ++c) {
        std::uint64_t ended = q.transmitted.values[c] + q.resident.values[c];
        for (const auto n : q.drops.values[c]) ended += n;
        if (ended != q.arrived.values[c]) return false;
      }
    return true;
  }

  TestPool pool;
  EventLoop loop;
  sw::EgressPort port;
  Collector out;
  Link link;
};

/// Returns a gigabit port with one queue of 1000 packets.
inline sw::SwitchPortConfig port_config() {
  sw::SwitchPortConfig port;
  port.name = "p";
  port.drain_rate = BitRate{1'000'000'000};
  port.rate_layer = RateLayer::kL2;
  port.queue.limit_packets = 1000;
  return port;
}

}  // namespace outrider
