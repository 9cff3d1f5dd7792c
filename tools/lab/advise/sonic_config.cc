#include "tools/lab/advise/sonic_config.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "tools/lab/summary/table_text.h"

namespace outrider::lab {
namespace {

constexpr const char* kProfile = "OUTRIDER";  ///< name of the maps and the begin of profiles' names
constexpr const char* kPool = "ingress_lossless_pool";
constexpr std::size_t kLanes = 4;  ///< from one port's name to the next
constexpr double kMostWeight = 100;

using Fields = std::vector<std::pair<std::string, std::string>>;

/// The tables of a configuration, each with entries of texts.
class Tables {
 public:
  void add(const std::string& table, const std::string& entry, Fields fields) {
    auto at = std::ranges::find(tables_, table, &Table::first);
    if (at == tables_.end()) at = tables_.insert(tables_.end(), {table, {}});
    at->second.emplace_back(entry, std::move(fields));
  }

  [[nodiscard]] std::string json() const {
    std::string text = "{";
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      text += std::string(t == 0 ? "" : ",") + "\n  \"" + tables_[t].first + "\": {";
      const auto& entries = tables_[t].second;
      for (std::size_t e = 0; e < entries.size(); ++e)
        text += std::string(e == 0 ? "" : ",") + "\n    \"" + entries[e].first + "\": {" +
                fields(entries[e].second) + "}";
      text += "\n  }";
    }
    return text + "\n}\n";
  }

 private:
  using Table = std::pair<std::string, std::vector<std::pair<std::string, Fields>>>;

  static std::string fields(const Fields& all) {
    std::string text;
    for (const auto& [key, value] : all) {
      text += text.empty() ? "" : ", ";
      text.append("\"").append(key).append("\": \"").append(value).append("\"");
    }
    return text;
  }

  std::vector<Table> tables_{};
};

std::string bytes(double packets, std::uint32_t frame_bytes) {
  return std::to_string(std::llround(packets * frame_bytes));
}

/// Returns the WRED profile that marks as a marker does; nothing if none can.
std::optional<Fields> wred_of(const sw::MarkerConfig& m, std::uint32_t frame_bytes) {
  const auto profile = [frame_bytes](double from, double to, double most) {
    return Fields{{"ecn", "ecn_all"},
                  {"wred_green_enable", "true"},
                  {"green_min_threshold", bytes(from, frame_bytes)},
                  {"green_max_threshold", bytes(to, frame_bytes)},
                  {"green_drop_probability", std::to_string(std::llround(100 * most))}};
  };
  if (m.kind == sw::MarkerKind::kStep) return profile(m.threshold_packets, m.threshold_packets, 1);
  if (m.kind == sw::MarkerKind::kRed)
    return profile(m.red.kmin_packets, m.red.kmax_packets, m.red.pmax);
  return std::nullopt;
}

/// Returns the pool from which lossless classes take their memory. Its mode is that of the
/// thresholds of its profiles.
Fields pool_of(const sw::SwitchConfig& sw, const sw::LosslessConfig& c) {
  const std::uint64_t size = sw.buffer.total_bytes.value_or(sw::lossless_own_bytes(sw));
  return {{"type", "ingress"},
          {"mode", c.xoff_alpha ? "dynamic" : "static"},
          {"size", std::to_string(size)}};
}

/// Returns half of the threshold of a class that has the shared buffer for itself. SONiC has no
/// share of a threshold from which a port may go on, only a distance below it.
std::uint64_t half_of_alone(const sw::SwitchConfig& sw, double alpha) {
  return static_cast<std::uint64_t>(alpha / (1 + alpha) / 2 *
                                    static_cast<double>(sw::shared_part_bytes(sw)));
}

/// Returns the profile of a lossless class; nothing if its threshold has no counterpart.
/// @param frame_bytes  that may always wait when a port goes on: with 0 a full buffer would have to
///                     be empty first
std::optional<Fields> buffer_of(const sw::SwitchConfig& sw, const sw::LosslessConfig& c,
                                std::uint32_t frame_bytes) {
  constexpr long kLeastExponent = -8, kMostExponent = 7;  // of BUFFER_PROFILE's dynamic_th
  Fields fields{{"pool", kPool}};
  std::uint64_t xon = frame_bytes;
  if (c.xoff_alpha) {
    const long exponent = std::lround(std::log2(*c.xoff_alpha));
    if (exponent < kLeastExponent || exponent > kMostExponent) return std::nullopt;
    fields.emplace_back("dynamic_th", std::to_string(exponent));
    fields.emplace_back(
        "xon_offset",
        std::to_string(c.xon_offset_bytes.value_or(half_of_alone(sw, *c.xoff_alpha))));
  } else {
    fields.emplace_back("static_th", std::to_string(c.xoff_bytes));
    xon = c.resume_bytes();
  }
  fields.emplace_back("xon", std::to_string(xon));
  fields.emplace_back("xoff", std::to_string(c.headroom_bytes));
  fields.emplace_back("size", std::to_string(xon + c.headroom_bytes));
  return fields;
}

/// The classes of the bursts and of all else, which name a queue, a priority group and a priority.
struct Classes {
  std::string bursts = "3";
  std::string rest = "0";
  std::string storage = "3";  ///< that of background over RoCEv2
};

const tg::TransportConfig* transport_of(const Case& c, const std::string& name) {
  const auto found = std::ranges::find(c.traffic.transports, name, &tg::TransportConfig::name);
  return found == c.traffic.transports.end() ? nullptr : &*found;
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

Classes classes_of(const Case& c, const sw::SwitchPortConfig& port,
                   const tg::TransportConfig& job) {
  const auto queues = sw::queues_of(port);
  const auto priority = [](const sw::LosslessConfig& lossless, std::optional<std::uint8_t> of) {
    return lossless.on() ? std::to_string(lossless.priority) : of ? std::to_string(*of) : "";
  };
  Classes classes;
  if (const auto own = priority(queues[0].queue.lossless, job.tcp.priority); !own.empty())
    classes.bursts = own;
  classes.storage = classes.bursts;
  if (queues.size() < 2) return classes;
  const auto storage = storage_of(c);
  if (storage.empty()) return classes;
  const auto own = priority(queues[1].queue.lossless, storage.front()->tcp.priority);
  classes.storage = own.empty() || own == classes.bursts ? "4" : own;
  return classes;
}

/// Returns how the link is shared by the first queue and the second.
std::pair<int, int> weights_of(const sw::SwitchPortConfig& port,
                               const std::vector<sw::PortQueueConfig>& queues) {
  double first = queues[0].queue.weight / (queues[0].queue.weight + queues[1].queue.weight);
  if (port.scheduler != SchedulerKind::kDwrr && queues[1].queue.floor_rate)
    first = 1 - static_cast<double>(queues[1].queue.floor_rate->bits_per_second) /
                    static_cast<double>(port.drain_rate.bits_per_second);
  const int weight = static_cast<int>(std::clamp(std::round(kMostWeight * first), 1.0, 99.0));
  return {weight, static_cast<int>(kMostWeight) - weight};
}

/// Adds the classes by DSCP, and the queue, the group and the pauses of each.
void add_maps(const Case& c, const Classes& classes, const tg::TransportConfig& job, Tables& out) {
  Fields dscps{{std::to_string(job.roce.dscp), classes.bursts}};
  const auto add = [&dscps](std::uint32_t dscp, const std::string& to) {
    const std::string name = std::to_string(dscp);
    if (std::ranges::find(dscps, name, &Fields::value_type::first) == dscps.end())
      dscps.emplace_back(name, to);
  };
  add(job.roce.cnp_dscp, classes.bursts);
  for (const tg::TransportConfig* storage : storage_of(c)) add(storage->roce.dscp, classes.storage);
  out.add("DSCP_TO_TC_MAP", kProfile, dscps);
  Fields same{{classes.rest, classes.rest}, {classes.bursts, classes.bursts}};
  if (classes.storage != classes.bursts) same.emplace_back(classes.storage, classes.storage);
  for (const char* map :
       {"TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE"})
    out.add(map, kProfile, same);
}

}  // namespace

std::string sonic_config(const Case& c, std::uint32_t frame_bytes, std::size_t most_ports) {
  const sw::SwitchPortConfig* port = find_port(c);
  const tg::TransportConfig* job = transport_of(c, c.traffic.jobs.front().transport);
  if (port == nullptr || job == nullptr || job->protocol != tg::TransportProtocol::kRoce) return {};
  const sw::SwitchConfig& sw = c.switches.switches.front();
  const auto queues = sw::queues_of(*port);
  const Classes classes = classes_of(c, *port, *job);
  Tables out;
  add_maps(c, classes, *job, out);

  Fields ports{{"dscp_to_tc_map", kProfile},
               {"tc_to_queue_map", kProfile},
               {"tc_to_pg_map", kProfile},
               {"pfc_to_queue_map", kProfile}};
  std::string paused;
  std::vector<std::pair<std::string, Fields>> of_queue, of_group;
  for (std::size_t i = 0; i < std::min<std::size_t>(queues.size(), 2); ++i) {
    const std::string number = i == 0 ? classes.bursts : classes.storage;
    const std::string name = std::string(kProfile) + '_' + number;
    if (i == 1 && number == classes.bursts) break;  // all else has the class of no other
    const auto wred = wred_of(queues[i].marker, frame_bytes);
    if (!wred) return {};
    out.add("WRED_PROFILE", name, *wred);
    Fields queue{{"wred_profile", name}};
    if (queues.size() > 1) {
      const auto [first, second] = weights_of(*port, queues);
      out.add("SCHEDULER", name,
              {{"type", "DWRR"}, {"weight", std::to_string(i == 0 ? first : second)}});
      queue.emplace_back("scheduler", name);
    }
    of_queue.emplace_back(number, queue);
    if (!queues[i].queue.lossless.on()) continue;
    const auto buffer = buffer_of(sw, queues[i].queue.lossless, frame_bytes);
    if (!buffer) return {};
    if (paused.empty()) out.add("BUFFER_POOL", kPool, pool_of(sw, queues[i].queue.lossless));
    out.add("BUFFER_PROFILE", name, *buffer);
    of_group.emplace_back(number, Fields{{"profile", name}});
    paused += (paused.empty() ? "" : ",") + number;
  }
  ports.emplace_back("pfc_enable", paused);
  const std::size_t listed = std::min(most_ports, sw.ports.size());
  for (std::size_t i = 0; i < listed; ++i) {
    const std::string name = "Ethernet" + std::to_string(kLanes * i);
    out.add("PORT_QOS_MAP", name, ports);
    for (const auto& [number, fields] : of_queue) out.add("QUEUE", name + '|' + number, fields);
    for (const auto& [number, fields] : of_group) out.add("BUFFER_PG", name + '|' + number, fields);
  }
  return out.json();
}

}  // namespace outrider::lab
