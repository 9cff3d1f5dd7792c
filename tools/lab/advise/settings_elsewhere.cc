#include "tools/lab/advise/settings_elsewhere.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/config/quantities.h"
#include "tools/lab/summary/table_text.h"

namespace outrider::lab {
namespace {

std::string in_bytes(double packets, std::uint32_t frame_bytes) {
  return std::to_string(std::llround(packets * frame_bytes));
}

/// Returns the name of what a marker does, with its sizes.
std::string marks_of(const sw::MarkerConfig& m, std::uint32_t frame_bytes) {
  const auto bytes = [frame_bytes](double packets) { return in_bytes(packets, frame_bytes); };
  switch (m.kind) {
    case sw::MarkerKind::kTailDrop:
      return "none";
    case sw::MarkerKind::kStep:
      return m.background_threshold_packets
                 ? "the job's from " + bytes(m.threshold_packets) + ", others from " +
                       bytes(*m.background_threshold_packets)
                 : "from " + bytes(m.threshold_packets);
    case sw::MarkerKind::kRed:
      return "RED: " + bytes(m.red.kmin_packets) + " to " + bytes(m.red.kmax_packets) +
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

/// Returns the room of a queue: bytes if it is limited in bytes, else full frames.
std::string room_of(const sw::QueueConfig& queue, std::uint32_t frame_bytes) {
  if (queue.limit_bytes) return std::to_string(*queue.limit_bytes);
  return in_bytes(queue.limit_packets, frame_bytes);
}

/// Returns what makes a queue lossless.
std::string pauses_of(const sw::LosslessConfig& c) {
  if (!c.on()) return "none";
  const std::string xoff = c.xoff_alpha ? formatted("XOFF at %g of what is free", *c.xoff_alpha)
                                        : "XOFF " + std::to_string(c.xoff_bytes) + ", XON " +
                                              std::to_string(c.resume_bytes());
  return "priority " + std::to_string(c.priority) + ": " + xoff + ", headroom " +
         std::to_string(c.headroom_bytes);
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

std::string settings_elsewhere(const sw::SwitchPortConfig& port, const RemedyNature& nature,
                               std::uint32_t frame_bytes) {
  if (nature.kind == RemedyKind::kOrder) return "On the switch: nothing.\n";
  if (nature.announced)
    return "Another maker's switch cannot do this: it does not understand announced bursts.\n";
  if (nature.outrider)
    return "Another maker's switch needs telemetry as outrider-switch has it for this.\n";
  const auto queues = sw::queues_of(port);
  std::string text =
      "On a switch of another maker, at each port to the servers:\n" +
      row("traffic", "share of the link", "room [bytes]", "ECN marks, bytes that wait");
  bool pauses = false;
  for (std::size_t i = 0; i < queues.size(); ++i) {
    const std::string traffic = queues.size() == 1 ? "all"
                                : i == 0           ? "the job's DSCP"
                                                   : "every other DSCP";
    pauses |= queues[i].queue.lossless.on();
    text += row(traffic, share_of(port, queues, i), room_of(queues[i].queue, frame_bytes),
                marks_of(queues[i].marker, frame_bytes));
  }
  if (!pauses) return text;
  text += "Pauses (priority flow control), in bytes:\n";
  for (const auto& queue : queues)
    text += "  " + std::string(&queue == &queues.front() ? "first queue   " : "second queue  ") +
            pauses_of(queue.queue.lossless) + '\n';
  return text;
}

std::string settings_of_nics(const tg::RoceConfig& roce) {
  const auto us = [](Duration d) { return formatted("%g us", seconds(d) * 1e6); };
  const auto mbit = [](BitRate r) {
    return formatted("%g Mbit/s", static_cast<double>(r.bits_per_second) / 1e6);
  };
  std::string text =
      "On the NICs (names as NVIDIA's drivers have them in ecn/roce_np and "
      "ecn/roce_rp):\n";
  const auto line = [&text](const char* name, const std::string& value) {
    text += formatted("  %-24s ", name) + value + '\n';
  };
  line("dscp of data", std::to_string(roce.dscp));
  line("cnp_dscp", std::to_string(roce.cnp_dscp));
  if (roce.cnp_priority) line("cnp_802p_prio", std::to_string(*roce.cnp_priority));
  line("min_time_between_cnps", us(roce.cnp_interval));
  if (roce.controller != tg::RoceController::kDcqcn) return text;
  line("rpg_time_reset", us(roce.dcqcn.increase_timer));
  line("rpg_byte_reset", std::to_string(roce.dcqcn.increase_bytes) + " bytes");
  line("rpg_threshold", std::to_string(roce.dcqcn.recovery_stages));
  line("rpg_ai_rate", mbit(roce.dcqcn.additive_increase));
  line("rpg_hai_rate", mbit(roce.dcqcn.hyper_increase));
  line("rpg_min_rate", mbit(roce.dcqcn.least_rate));
  line("dce_tcp_rtt", us(roce.dcqcn.alpha_timer));
  line("dce_tcp_g", formatted("%.0f", 1024 * (1 - roce.dcqcn.g)));
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
