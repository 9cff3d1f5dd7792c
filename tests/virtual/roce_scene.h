#pragma once

#include "common/net/roce.h"
#include "tests/virtual/job_scene.h"

namespace outrider {

/// Workers push to one server through 10 Gbit/s with a round trip of 20 us, over RoCEv2.
inline Dumbbell roce_dumbbell(std::uint32_t workers, std::uint64_t burst_bytes) {
  Dumbbell d = closed_loop();
  d.workers = workers;
  d.job.pull = false;
  d.job.burst_bytes = burst_bytes;
  d.job.compute = std::chrono::milliseconds(1);
  d.job.aggregate = {};
  d.job.iterations = 1;
  d.job.announce.lead_source = tg::LeadSource::kNone;
  d.bottleneck = d.host_rate = BitRate{10'000'000'000};
  d.rtt = std::chrono::microseconds(20);
  d.bottleneck_port.queue.limit_packets = 2000;
  d.bottleneck_port.marker.kind = sw::MarkerKind::kRed;
  // The paper's 5 KB, 200 KB and 1 % are for 40 Gbit/s; these mark more, as fewer flows need.
  d.bottleneck_port.marker.red = {.kmin_packets = 40, .kmax_packets = 400, .pmax = 0.1};
  return d;
}

inline tg::GeneratorConfig roce_traffic(const Dumbbell& d, const tg::RoceConfig& roce = {}) {
  tg::GeneratorConfig g = d.traffic();
  g.transports[0].tcp = {};
  g.transports[0].protocol = tg::TransportProtocol::kRoce;
  g.transports[0].roce = roce;
  return g;
}

inline sw::SwitchProcessConfig roce_switches(const Dumbbell& d) {
  sw::SwitchProcessConfig c = d.switches();
  for (auto& sw : c.switches) {
    sw::RuleConfig rule;
    rule.protocol = kIpProtocolUdp;
    rule.destination_ports = sw::PortRange{roce::kPort, roce::kPort};
    rule.traffic_class = sw::RuleClass::kDdl;
    sw.rules = {rule};
  }
  return c;
}

}  // namespace outrider
