#pragma once

#include <algorithm>
#include <vector>

#include "tests/virtual/job_scene.h"

namespace outrider {

inline constexpr std::uint16_t kMltPort = 5000;

/// Returns a dumbbell whose job uses the bounded-loss transport: workers push to one server
/// through the bottleneck, without background and announcements.
inline Dumbbell mlt_dumbbell(std::uint32_t workers) {
  Dumbbell d = closed_loop();
  d.workers = workers;
  d.job.burst_bytes = 400'000;
  d.job.compute = std::chrono::milliseconds(5);
  d.job.aggregate = {};
  d.job.iterations = 3;
  d.job.announce.lead_source = tg::LeadSource::kNone;
  d.ddl_tcp = {};
  d.ddl_tcp.control.controller = tg::Controller::kDctcp;
  return d;
}

inline tg::GeneratorConfig mlt_traffic(const Dumbbell& d, const tg::MltConfig& mlt) {
  tg::GeneratorConfig g = d.traffic();
  g.transports[0].protocol = tg::TransportProtocol::kMlt;
  g.transports[0].mlt = mlt;
  return g;
}

/// Returns switches that classify the job's datagrams as DDL data in both directions.
inline sw::SwitchProcessConfig mlt_switches(const Dumbbell& d) {
  sw::SwitchProcessConfig c = d.switches();
  for (auto& sw : c.switches) {
    sw::RuleConfig to, from;
    to.protocol = from.protocol = kIpProtocolUdp;
    to.destination_ports = from.source_ports = sw::PortRange{kMltPort, kMltPort};
    to.traffic_class = from.traffic_class = sw::RuleClass::kDdl;
    sw.rules = {to, from};
  }
  return c;
}

/// Returns the completion times of the delivered bursts in a direction.
inline std::vector<double> completion_seconds(const lab::RunResult& r, BurstDirection d) {
  std::vector<double> took;
  for (const auto& b : bursts_of(r, d))
    if (b.delivered_ns != tg::kNotYet_ns)
      took.push_back(static_cast<double>(b.delivered_ns - b.released_ns) / 1e9);
  return took;
}

}  // namespace outrider
