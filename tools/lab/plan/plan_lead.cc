#include "tools/lab/plan/plan_lead.h"

#include <algorithm>

#include "tools/lab/plan/plan_jobs.h"

namespace outrider::lab {
namespace {

/// Returns the bytes that a rate counts for a full frame.
std::uint32_t packet_bytes_of(const sw::SwitchPortConfig& port) {
  return port.rate_layer == RateLayer::kL1 ? wire_bytes(sw::kFullFrameBytes) : sw::kFullFrameBytes;
}

/// Returns the queue up to which background may stand: its marking threshold, or the limit if
/// nothing marks it or it does not react.
double standing_packets(const CaseParameters& p, const ProgramSettings& settings) {
  const sw::SwitchPortConfig& port = settings.sw.ports.front();
  const double limit = port.queue.limit_packets;
  const tg::TcpConfig& background = settings.background.tcp;
  if (!background.ecn || !background.obey_ece) return limit;
  if (p.static_pair) return std::min<double>(limit, p.h_packets);
  if (port.marker.kind == sw::MarkerKind::kStep)
    return std::min<double>(limit, port.marker.threshold_packets);
  if (port.marker.kind == sw::MarkerKind::kRed)
    return std::min(limit, port.marker.red.kmax_packets);
  return limit;
}

}  // namespace

WindowLead lead_by_rule(const ExperimentFile& e, const CaseParameters& p,
                        const ProgramSettings& settings, const Topology& t) {
  const sw::SwitchPortConfig& port = settings.sw.ports.front();
  const std::size_t pairs = e.background.from.empty() ? 0 : background_from(e, t).size();
  const std::size_t flows = pairs * long_flows_per_pair(p);
  return window_lead({.rate = t.measured_rate,
                      .rtt = t.rtt,
                      .packet_bytes = packet_bytes_of(port),
                      .standing_packets = standing_packets(p, settings),
                      .h_packets = static_cast<double>(p.h_packets),
                      .flows = static_cast<std::uint32_t>(std::max<std::size_t>(flows, 1)),
                      .standing_clamp = port.regulation.window.standing_clamp,
                      .least_segments = port.regulation.window.least_segments,
                      // More lead costs background next to nothing with `complement` alone.
                      .whole_paths = port.regulation.window.rule == WindowRule::kComplement});
}

Duration planned_lead(const ExperimentFile& e, const CaseParameters& p,
                      const ProgramSettings& settings, const Topology& t) {
  if (p.lead_rtts.value) return rtts_to_duration(*p.lead_rtts.value, t.rtt);
  if (!holds_windows(p.regulation)) return t.rtt;
  return lead_by_rule(e, p, settings, t).lead;
}

}  // namespace outrider::lab
