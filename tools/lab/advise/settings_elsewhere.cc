#include "tools/lab/advise/settings_elsewhere.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
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

using SettingRows = std::vector<std::pair<std::string, std::string>>;

/// Adds what makes a queue lossless.
void add_pauses(const std::string& queue, const sw::LosslessConfig& c, SettingRows& rows) {
  rows.emplace_back(queue + "pauses", c.on() ? "priority " + std::to_string(c.priority) : "none");
  if (!c.on()) return;
  rows.emplace_back(queue + "XOFF [B]", c.xoff_alpha
                                            ? formatted("%g of what is free", *c.xoff_alpha)
                                            : std::to_string(c.xoff_bytes));
  if (!c.xoff_alpha) rows.emplace_back(queue + "XON [B]", std::to_string(c.resume_bytes()));
  rows.emplace_back(queue + "headroom here [B]", std::to_string(c.headroom_bytes));
}

SettingRows rows_of_port(const sw::SwitchPortConfig& port, std::uint32_t frame_bytes) {
  const auto queues = sw::queues_of(port);
  SettingRows rows;
  for (std::size_t i = 0; i < queues.size(); ++i) {
    const std::string queue = i == 0 ? "first queue: " : "second queue: ";
    rows.emplace_back(queue + "traffic", queues.size() == 1 ? "all"
                                         : i == 0           ? "the job's DSCP"
                                                            : "every other DSCP");
    rows.emplace_back(queue + "share of link", share_of(port, queues, i));
    rows.emplace_back(queue + "room [B]", room_of(queues[i].queue, frame_bytes));
    rows.emplace_back(queue + "ECN marks [B]", marks_of(queues[i].marker, frame_bytes));
    add_pauses(queue, queues[i].queue.lossless, rows);
  }
  if (port.limit_bytes) rows.emplace_back("both: room [B]", std::to_string(*port.limit_bytes));
  else if (port.limit_packets)
    rows.emplace_back("both: room [B]", in_bytes(*port.limit_packets, frame_bytes));
  return rows;
}

SettingRows rows_of_nic(const tg::RoceConfig& roce) {
  const auto us = [](Duration d) { return formatted("%g us", seconds(d) * 1e6); };
  const auto mbit = [](BitRate r) {
    return formatted("%g Mbit/s", static_cast<double>(r.bits_per_second) / 1e6);
  };
  const auto* controller =
      std::ranges::find(tg::kRoceControllers, roce.controller, &Choice<tg::RoceController>::value);
  SettingRows rows{
      {"rate control", std::string(controller->name)},
      {"dscp of data", std::to_string(roce.dscp)},
      {"cnp_dscp", std::to_string(roce.cnp_dscp)},
      {"cnp_802p_prio", roce.cnp_priority ? std::to_string(*roce.cnp_priority) : "as data"},
      {"min_time_between_cnps", us(roce.cnp_interval)}};
  if (roce.controller != tg::RoceController::kDcqcn) return rows;
  const tg::DcqcnConfig& c = roce.dcqcn;
  rows.insert(rows.end(), {{"rpg_time_reset", us(c.increase_timer)},
                           {"rpg_byte_reset", std::to_string(c.increase_bytes) + " bytes"},
                           {"rpg_threshold", std::to_string(c.recovery_stages)},
                           {"rpg_ai_rate", mbit(c.additive_increase)},
                           {"rpg_hai_rate", mbit(c.hyper_increase)},
                           {"rpg_min_rate", mbit(c.least_rate)},
                           {"dce_tcp_rtt", us(c.alpha_timer)},
                           {"dce_tcp_g", formatted("%.0f", 1024 * (1 - c.g))}});
  return rows;
}

/// Returns a line for each setting of either side, one that a side does not have is "-" there; a
/// line for all if none changes.
std::string compared(const std::string& title, const SettingRows& today,
                     const SettingRows& advised) {
  if (today == advised) return title + ": as today.\n";
  const auto value = [](const SettingRows& rows, const std::string& name) {
    const auto found = std::ranges::find(rows, name, &SettingRows::value_type::first);
    return found == rows.end() ? std::string("-") : found->second;
  };
  SettingRows all = advised;
  for (const auto& row : today)
    if (value(advised, row.first) == "-") all.push_back(row);
  std::string text = formatted("%-34s %-36s   %s\n", title.c_str(), "today", "advised, * changes");
  for (const auto& row : all) {
    const std::string now = value(today, row.first), then = value(advised, row.first);
    text += formatted("  %-32s %-36s %s %s\n", row.first.c_str(), now.c_str(),
                      now == then ? " " : "*", then.c_str());
  }
  return text;
}

}  // namespace

std::string settings_elsewhere(const sw::SwitchPortConfig& today,
                               const sw::SwitchPortConfig& advised, const RemedyNature& nature,
                               std::uint32_t frame_bytes) {
  if (nature.kind == RemedyKind::kOrder) return "On the switch: nothing.\n";
  if (nature.announced)
    return "Another maker's switch cannot do this: it does not understand announced bursts.\n";
  if (nature.kind == RemedyKind::kTelemetry)
    return "Another maker's switch needs telemetry as outrider-switch has it for this.\n";
  if (nature.outrider)
    return "Another maker's switch cannot do this: its markers read their own queue alone, its "
           "queues do not count the bytes of flows, and it rewrites no windows.\n";
  return compared("Ports of another maker's switch", rows_of_port(today, frame_bytes),
                  rows_of_port(advised, frame_bytes));
}

std::string settings_of_nics(const tg::RoceConfig& today, const tg::RoceConfig& advised) {
  return compared("NICs (names of NVIDIA's drivers)", rows_of_nic(today), rows_of_nic(advised));
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
