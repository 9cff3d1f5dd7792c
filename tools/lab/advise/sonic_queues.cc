#include <algorithm>
#include <cmath>
#include <optional>

#include "tools/lab/advise/sonic_parts.h"

namespace outrider::lab {
namespace {

constexpr double kMostWeight = 100;
constexpr const char* kCnpScheduler = "OUTRIDER_CNP";
constexpr const char* kControlDscp = "48";  ///< CS6: routing protocols, and CNPs as NICs send them

std::string bytes(double packets, std::uint32_t frame_bytes) {
  return std::to_string(std::llround(packets * frame_bytes));
}

/// Returns the WRED profile that marks as a marker does; null if none can.
SonicJson wred_of(const sw::MarkerConfig& m, std::uint32_t frame_bytes) {
  const auto profile = [frame_bytes](double from, double to, double most) {
    return SonicJson{{"ecn", "ecn_all"},
                     {"wred_green_enable", "true"},
                     {"green_min_threshold", bytes(from, frame_bytes)},
                     {"green_max_threshold", bytes(to, frame_bytes)},
                     {"green_drop_probability", std::to_string(std::llround(100 * most))}};
  };
  if (m.kind == sw::MarkerKind::kStep) return profile(m.threshold_packets, m.threshold_packets, 1);
  if (m.kind == sw::MarkerKind::kRed)
    return profile(m.red.kmin_packets, m.red.kmax_packets, m.red.pmax);
  return nullptr;
}

const tg::TransportConfig& transport_of_job(const Case& c) {
  return *std::ranges::find(c.traffic.transports, c.traffic.jobs.front().transport,
                            &tg::TransportConfig::name);
}

/// Returns the transports over RoCEv2 that are no job's.
std::vector<const tg::TransportConfig*> storage_of(const Case& c) {
  std::vector<const tg::TransportConfig*> all;
  for (const tg::TransportConfig& t : c.traffic.transports)
    if (t.protocol == tg::TransportProtocol::kRoce &&
        std::ranges::find(c.traffic.jobs, t.name, &tg::JobConfig::transport) ==
            c.traffic.jobs.end())
      all.push_back(&t);
  return all;
}

/// Returns the class of CNPs: theirs, or SONiC's, unless data have it.
std::string class_of_cnps(const tg::RoceConfig& roce, const SonicClasses& classes) {
  std::vector<std::string> wanted{"6", "7", "5"};
  if (roce.cnp_priority) wanted.insert(wanted.begin(), std::to_string(*roce.cnp_priority));
  return *std::ranges::find_if(wanted, [&classes](const std::string& name) {
    return name != classes.rest && name != classes.bursts && name != classes.storage;
  });
}

/// Returns how the link is shared by the first queue and the second.
std::pair<int, int> weights_of(const sw::SwitchPortConfig& port) {
  const auto queues = sw::queues_of(port);
  double first = queues[0].queue.weight / (queues[0].queue.weight + queues[1].queue.weight);
  if (port.scheduler != SchedulerKind::kDwrr && queues[1].queue.floor_rate)
    first = 1 - static_cast<double>(queues[1].queue.floor_rate->bits_per_second) /
                    static_cast<double>(port.drain_rate.bits_per_second);
  const int weight = static_cast<int>(std::clamp(std::round(kMostWeight * first), 1.0, 99.0));
  return {weight, static_cast<int>(kMostWeight) - weight};
}

}  // namespace

SonicClasses sonic_classes(const Case& c) {
  const auto queues = sw::queues_of(*find_port(c));
  const tg::TransportConfig& job = transport_of_job(c);
  const auto priority = [](const sw::LosslessConfig& lossless, std::optional<std::uint8_t> of) {
    return lossless.on() ? std::to_string(lossless.priority) : of ? std::to_string(*of) : "";
  };
  SonicClasses classes;
  if (const auto own = priority(queues[0].queue.lossless, job.tcp.priority); !own.empty())
    classes.bursts = own;
  classes.storage = classes.bursts;
  classes.queues.emplace_back(classes.bursts, queues[0]);
  if (const auto storage = storage_of(c); queues.size() > 1 && !storage.empty()) {
    const auto own = priority(queues[1].queue.lossless, storage.front()->tcp.priority);
    classes.storage = own.empty() || own == classes.bursts ? "4" : own;
    classes.queues.emplace_back(classes.storage, queues[1]);
  }
  classes.cnps = class_of_cnps(job.roce, classes);
  return classes;
}

SonicJson sonic_maps(const Case& c, const SonicClasses& classes,
                     const std::vector<SonicPort>& ports) {
  const tg::RoceConfig& job = transport_of_job(c).roce;
  SonicJson dscps{{std::to_string(job.dscp), classes.bursts}};
  for (const tg::TransportConfig* storage : storage_of(c))
    dscps.emplace(std::to_string(storage->roce.dscp), classes.storage);
  dscps.emplace(std::to_string(job.cnp_dscp), classes.cnps);
  dscps.emplace(kControlDscp, classes.cnps);

  SonicJson data, all{{classes.rest, classes.rest}}, groups = all;
  std::string paused;
  for (const auto& [number, settings] : classes.queues) {
    data[number] = all[number] = groups[number] = number;
    if (settings.queue.lossless.on()) paused += (paused.empty() ? "" : ",") + number;
  }
  all[classes.cnps] = classes.cnps;
  groups[classes.cnps] = classes.rest;

  SonicJson out{{"DSCP_TO_TC_MAP", {{kSonicName, dscps}}},
                {"TC_TO_QUEUE_MAP", {{kSonicName, all}}},
                {"TC_TO_PRIORITY_GROUP_MAP", {{kSonicName, groups}}},
                {"MAP_PFC_PRIORITY_TO_QUEUE", {{kSonicName, data}}},
                {"SCHEDULER", {{kCnpScheduler, {{"type", "STRICT"}}}}}};
  for (const SonicPort& port : ports) {
    out["PORT_QOS_MAP"][port.name] = {
        {"dscp_to_tc_map", kSonicName}, {"tc_to_queue_map", kSonicName},
        {"tc_to_pg_map", kSonicName},   {"pfc_to_queue_map", kSonicName},
        {"pfc_enable", paused},         {"pfcwd_sw_enable", paused}};
    out["QUEUE"][port.name + '|' + classes.cnps] = {{"scheduler", kCnpScheduler}};
  }
  return out;
}

SonicJson sonic_queues(const Case& c, const SonicClasses& classes,
                       const std::vector<SonicPort>& ports, std::uint32_t frame_bytes) {
  const sw::SwitchPortConfig& measured = *find_port(c);
  const bool shares = sw::queues_of(measured).size() > 1;
  SonicJson out;
  for (const auto& [number, settings] : classes.queues) {
    const std::string name = std::string(kSonicName) + '_' + number;
    const SonicJson wred = wred_of(settings.marker, frame_bytes);
    if (wred.is_null()) return nullptr;
    out["WRED_PROFILE"][name] = wred;
    SonicJson queue{{"wred_profile", name}};
    if (shares) {
      const auto [first, second] = weights_of(measured);
      const int weight = number == classes.bursts ? first : second;
      out["SCHEDULER"][name] = {{"type", "DWRR"}, {"weight", std::to_string(weight)}};
      queue["scheduler"] = name;
    }
    for (const SonicPort& port : ports) out["QUEUE"][port.name + '|' + number] = queue;
  }
  return out;
}

}  // namespace outrider::lab
