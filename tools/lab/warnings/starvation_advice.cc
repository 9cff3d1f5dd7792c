#include "tools/lab/warnings/starvation_advice.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "switch/config/config.h"

namespace outrider::lab {
namespace {

/// What a loss leaves of CUBIC's window (RFC 9438, 4.6), which keeps more than Reno's.
constexpr double kLeft = 0.7;

double packets_in(const Case& c, Duration time) {
  return static_cast<double>(c.bottleneck.bits_per_second) * seconds(time) /
         (8 * sw::kFullFrameBytes);
}

/// Returns the queue [packets] from which on the job's data are marked.
double marked_from(const Case& c, const sw::MarkerConfig& marker) {
  switch (marker.kind) {
    case sw::MarkerKind::kStep:
      return marker.threshold_packets;
    case sw::MarkerKind::kRed:
      return marker.red.kmax_packets;
    case sw::MarkerKind::kPie:
      return packets_in(c, marker.pie.target);
    case sw::MarkerKind::kPi2:
      return packets_in(c, marker.pi2.target);
    case sw::MarkerKind::kCodel:
      return packets_in(c, marker.codel.target);
    case sw::MarkerKind::kTailDrop:
      break;
  }
  return INFINITY;
}

/// Returns whether marks slow a sender down.
bool obeys_marks(const tg::TransportConfig& t) {
  if (t.protocol == tg::TransportProtocol::kRoce)
    return t.roce.controller == tg::RoceController::kDcqcn;
  return t.tcp.ecn && t.tcp.obey_ece;
}

/// Returns the setting by which marks do not slow a sender over TCP down, and it is not dropped
/// where it would be marked; empty if there is none.
std::string deaf_by(const tg::TransportConfig& t, const sw::MarkerConfig& marker) {
  if (t.protocol != tg::TransportProtocol::kTcp) return {};
  if (!t.tcp.ecn) return sw::not_ect_of(marker) == sw::NotEct::kPass ? "ecn" : "";
  return t.tcp.obey_ece ? "" : "obey_ece";
}

double limit_packets(const sw::QueueConfig& queue) {
  const double of_bytes =
      queue.limit_bytes ? static_cast<double>(*queue.limit_bytes) / sw::kFullFrameBytes : INFINITY;
  return std::min<double>(queue.limit_packets, of_bytes);
}

}  // namespace

ConfigIssues starvation_advice(std::span<const Case> cases) {
  ConfigIssues found;
  for (const Case& c : cases) {
    const sw::SwitchPortConfig* port = find_port(c);
    if (c.role != ArmRole::kBaseline || port == nullptr || !port->queues.empty() ||
        c.background_flows == 0)
      continue;
    const auto transport = [&c](const auto& sender) -> const tg::TransportConfig& {
      return tg::transport_named(c.traffic, sender.transport);
    };
    const auto obeys = [&](const tg::JobConfig& job) { return obeys_marks(transport(job)); };
    const double limit = limit_packets(port->queue), path = packets_in(c, c.base_rtt);
    const double least_queue = kLeft * (limit + path) - path;
    if (std::ranges::none_of(c.traffic.jobs, obeys) || least_queue <= marked_from(c, port->marker))
      continue;
    for (const tg::LongFlowsConfig& flows : c.traffic.long_flows) {
      const std::string setting = deaf_by(transport(flows), port->marker);
      if (setting.empty()) continue;
      const bool in_group =
          std::ranges::find(c.background_groups, flows.name) != c.background_groups.end();
      if (!in_group && !c.background_groups.empty()) continue;  // what flows back
      const std::string key =
          (in_group ? "background." + flows.name : "background") + ".transport." + setting;
      found.push_back(
          {key,
           "false: these flows obey no marks and keep the queue above the threshold at which "
           "switch.marker marks the job's data, which obey: they may leave the job almost none of "
           "the link, so that a run takes many times longer than `plan` says; set " +
               key + " = true, or give the job a queue of its own (switch.scheduler)"});
    }
  }
  return found;
}

}  // namespace outrider::lab
