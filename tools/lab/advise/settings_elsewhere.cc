#include "tools/lab/advise/settings_elsewhere.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/config/quantities.h"
#include "tools/lab/summary/table_text.h"

namespace outrider::lab {
namespace {

std::string in_bytes(double packets) {
  return std::to_string(std::llround(packets * sw::kFullFrameBytes));
}

/// Returns the name of what a marker does, with its sizes.
std::string marks_of(const sw::MarkerConfig& m) {
  switch (m.kind) {
    case sw::MarkerKind::kTailDrop:
      return "none";
    case sw::MarkerKind::kStep:
      return m.background_threshold_packets
                 ? "the job's from " + in_bytes(m.threshold_packets) + ", others from " +
                       in_bytes(*m.background_threshold_packets)
                 : "from " + in_bytes(m.threshold_packets);
    case sw::MarkerKind::kRed:
      return "RED: " + in_bytes(m.red.kmin_packets) + " to " + in_bytes(m.red.kmax_packets) +
             formatted(", at most %.0f %%", 100 * m.red.pmax);
    case sw::MarkerKind::kPie:
      return "PIE: target " + format_duration(m.pie.target);
    case sw::MarkerKind::kPi2:
      return "PI2: target " + format_duration(m.pi2.target);
    case sw::MarkerKind::kCodel:
      return "CoDel: target " + format_duration(m.codel.target) + ", interval " +
             format_duration(m.codel.interval);
  }
  return {};
}

/// Returns the part of the link that a queue gets. @param at  of the queue, the first one is the
/// job's
std::string share_of(const sw::SwitchPortConfig& port,
                     const std::vector<sw::PortQueueConfig>& queues, std::size_t at) {
  if (queues.size() == 1) return "all";
  const sw::QueueConfig& queue = queues[at].queue;
  if (port.scheduler == SchedulerKind::kDwrr) return "weight " + formatted("%g", queue.weight);
  if (at == 0) return "strict priority";
  return queue.floor_rate ? "at least " + format_rate(*queue.floor_rate) : "what is left";
}

std::string row(const std::string& traffic, const std::string& share, const std::string& room,
                const std::string& marks) {
  return formatted("  %-22s %-20s %12s  %s\n", traffic.c_str(), share.c_str(), room.c_str(),
                   marks.c_str());
}

}  // namespace

std::string settings_elsewhere(const sw::SwitchPortConfig& port, const RemedyNature& nature) {
  if (nature.kind == RemedyKind::kOrder) return "On the switch: nothing.\n";
  if (nature.announced)
    return "Another maker's switch cannot do this: it does not understand announced bursts.\n";
  const auto queues = sw::queues_of(port);
  std::string text =
      "On a switch of another maker, at each port to the servers:\n" +
      row("traffic", "share of the link", "room [bytes]", "ECN marks, bytes that wait");
  for (std::size_t i = 0; i < queues.size(); ++i) {
    const std::string traffic = queues.size() == 1 ? "all"
                                : i == 0           ? "the job's DSCP"
                                                   : "every other DSCP";
    text += row(traffic, share_of(port, queues, i), in_bytes(queues[i].queue.limit_packets),
                marks_of(queues[i].marker));
  }
  return text;
}

std::string settings_of_hosts(const sw::SwitchPortConfig& port, const RemedyNature& nature,
                              Duration lead) {
  if (nature.announced)
    return "On the workers: announce each burst " + format_duration(lead) +
           " before it, from the framework, or with\n  outrider-hostagent announce --lead " +
           format_duration(lead) + " (docs/hosts.md).\n";
  if (nature.kind == RemedyKind::kOrder)
    return "In the framework: send gradients in this order (docs/jobs.md).\n";
  if (port.queues.size() > 1 || port.marker.background_threshold_packets)
    return "On the job's hosts: give its packets a DSCP that nothing else has, in both "
           "directions.\n";
  return "On the hosts: nothing.\n";
}

}  // namespace outrider::lab
