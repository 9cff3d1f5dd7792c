#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>

#include "tests/virtual/roce_scene.h"
#include "trafficgen/roce/path_mtu.h"

/// Shares, use and queue of long flows over RoCEv2, for tests of controllers.
namespace outrider::roce_long_flows {
using namespace sw;
using namespace tg;
using namespace lab;

using namespace std::chrono_literals;

inline constexpr Duration kBin = 100us;

/// Long flows over RoCEv2 alone, at a drop-tail queue or one that marks.
struct LongFlows {
  std::uint32_t flows = 2;
  RoceConfig roce{};
  BitRate rate{40'000'000'000};
  Duration rtt = 20us;
  std::optional<RedConfig> red{};
};

inline Dumbbell dumbbell_of(const LongFlows& s, std::uint64_t seed) {
  Dumbbell d = roce_dumbbell(1, 1'000'000);
  d.background_flows = s.flows;
  d.bottleneck = d.host_rate = s.rate;
  d.rtt = s.rtt;
  d.seed = seed;
  if (s.red) d.bottleneck_port.marker.red = *s.red;
  else d.bottleneck_port.marker.kind = MarkerKind::kTailDrop;
  d.bottleneck_port.queue.limit_packets = 20'000;
  return d;
}

inline GeneratorConfig long_flows_of(const Dumbbell& d, const RoceConfig& roce) {
  GeneratorConfig g = roce_traffic(d);
  g.jobs.clear();
  g.transports[1].tcp = {};
  g.transports[1].protocol = TransportProtocol::kRoce;
  g.transports[1].roce = roce;
  g.long_flows[0].start_spread = 1ms;
  return g;
}

inline SwitchProcessConfig switches_of(const Dumbbell& d, const RoceConfig& roce) {
  SwitchProcessConfig c = roce_switches(d);
  c.bin = kBin;
  for (auto& sw : c.switches) sw.hop_records.roce = telemetry_bytes_of(roce) != 0;
  return c;
}

/// Bytes on the wire (L1) of a full packet.
inline double wire_bytes_of(const RoceConfig& roce) {
  return path_mtu_of(1500) + kAroundPayloadBytes + telemetry_bytes_of(roce);
}

/// Use of the bottleneck by flows between two instants.
struct Measured {
  double jain = 0;
  double use = 0;      ///< share of the bottleneck's rate, headers included
  double wait_us = 0;  ///< mean time of a packet in the queue
  std::uint32_t most_packets = 0;
  std::uint64_t retransmitted = 0;
};

inline Measured measure(const LongFlows& s, std::uint64_t seed, Duration from, Duration to) {
  const Mempool pool = make_test_pool(60'000);
  const Dumbbell d = dumbbell_of(s, seed);
  Simulation simulation(switches_of(d, s.roce), long_flows_of(d, s.roce), *pool);
  simulation.run_until(Time{} + from);
  const RunResult before = simulation.result();
  simulation.run_until(Time{} + to);
  const RunResult after = simulation.result();
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < after.traffic.flows.size(); ++i) {
    const auto bytes = static_cast<double>(after.traffic.flows[i].delivered_bytes -
                                           before.traffic.flows[i].delivered_bytes);
    sum += bytes;
    squares += bytes * bytes;
  }
  Measured m;
  m.jain = sum * sum / (squares * static_cast<double>(after.traffic.flows.size()));
  const double wire_bits = sum * 8 * wire_bytes_of(s.roce) / path_mtu_of(1500);
  const double seconds = static_cast<double>((to - from).count()) / 1e9;
  m.use = wire_bits / seconds / static_cast<double>(s.rate.bits_per_second);
  const auto& bins = bottleneck_of(after).bins;
  double waited_ns = 0;
  const auto end = static_cast<std::size_t>(to / kBin);
  for (auto bin = static_cast<std::size_t>(from / kBin); bin < end; ++bin) {
    waited_ns += static_cast<double>(bins.at(bin).sojourn_ns);
    m.most_packets = std::max(m.most_packets, bins.at(bin).max_packets);
  }
  m.wait_us = waited_ns / (wire_bits / 8 / wire_bytes_of(s.roce)) / 1e3;
  m.retransmitted = after.traffic.background_roce.retransmitted;
  EXPECT_TRUE(after.traffic.background_roce.balanced());
  EXPECT_TRUE(after.traffic.ledger_balanced);
  return m;
}

inline Measured mean_of(const char* what, const LongFlows& s, Duration from, Duration to) {
  Measured mean;
  mean.jain = 1;
  const std::uint32_t n = seeds(1, 3);
  for (std::uint64_t seed = 1; seed <= n; ++seed) {
    const Measured m = measure(s, seed, from, to);
    mean.jain = std::min(mean.jain, m.jain);
    mean.use += m.use / n;
    mean.wait_us += m.wait_us / n;
    mean.most_packets = std::max(mean.most_packets, m.most_packets);
    mean.retransmitted += m.retransmitted;
  }
  if (std::getenv("OUTRIDER_FIGURES") != nullptr)
    std::cout << what << ", " << s.flows << " flows: Jain " << mean.jain << ", use " << mean.use
              << ", wait " << mean.wait_us << " us, at most " << mean.most_packets << " packets\n";
  return mean;
}

}  // namespace outrider::roce_long_flows
