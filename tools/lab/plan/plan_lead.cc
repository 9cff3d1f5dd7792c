#include "tools/lab/plan/plan_lead.h"

#include <algorithm>

#include "common/core/units.h"

namespace outrider::lab {
namespace {

/// Returns the bytes that a rate counts for a full frame.
std::uint32_t packet_bytes_of(const sw::SwitchPortConfig& port) {
  return port.rate_layer == RateLayer::kL1 ? wire_bytes(sw::kFullFrameBytes) : sw::kFullFrameBytes;
}

/// Returns whether all long flows heed marks.
bool heeds_marks(const tg::GeneratorConfig& traffic) {
  return std::ranges::none_of(traffic.long_flows, [&](const auto& flows) {
    const tg::TcpConfig& tcp = tg::transport_named(traffic, flows.transport).tcp;
    return !tcp.ecn || !tcp.obey_ece;
  });
}

/// Returns the queue up to which background may stand: its marking threshold, or the limit if
/// nothing marks it or it does not react.
double standing_packets(const sw::SwitchPortConfig& port, const tg::GeneratorConfig& traffic) {
  if (!heeds_marks(traffic)) return port.queue.limit_packets;
  return sw::standing_packets(port.queue, port.marker);
}

}  // namespace

WindowLead lead_by_rule(const Case& c) {
  const sw::SwitchPortConfig& port = *find_port(c);  // make_topology() has found it
  const WindowPolicy& window = port.regulation.window;
  return window_lead(
      {.rate = c.bottleneck,
       .rtt = c.base_rtt,
       .packet_bytes = packet_bytes_of(port),
       .standing_packets = standing_packets(port, c.traffic),
       .h_packets = static_cast<double>(c.traffic.jobs.front().announce.threshold_packets),
       .flows = std::max(c.background_flows, 1U),
       .standing_clamp = window.standing_clamp,
       .least_segments = window.least_segments,
       // More lead costs background next to nothing with `complement` alone.
       .whole_paths = window.rule == WindowRule::kComplement});
}

}  // namespace outrider::lab
