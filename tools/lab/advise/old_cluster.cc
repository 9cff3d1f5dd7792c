#include "tools/lab/advise/old_cluster.h"

#include <string>
#include <string_view>

namespace outrider::lab {
namespace {

struct Renamed {
  std::string_view key;
  std::string_view now;
};

constexpr Renamed kRenamed[]{
    {"network.buffer",
     "[parameters] switch.queue.limit_bytes for that of a port, or switch.buffer.total_bytes for "
     "that of the whole switch"},
    {"network.shared", "[parameters] switch.buffer.total_bytes"},
    {"network.alpha", "[parameters] switch.queue.alpha"},
    {"network.marks", "[parameters] switch.marker.kind = \"tail_drop\" for none"},
    {"network.mark_at", "[parameters] switch.marker.threshold_packets, which may be a size"},
    {"network.second_queue", "[change] second_queue"},
    {"change.switch", "[change] switches"}};

constexpr Renamed kOfJob[]{{"burst", "burst_bytes, or in [parameters] job.burst_bytes"},
                           {"period", "period, or in [parameters] job.period"},
                           {"policy", "send_policy, or in [parameters] job.send_policy"},
                           {"controller", "transport.controller"}};

/// Keys of [background] as a table, where an experiment has `from` and `to`.
constexpr Renamed kOfBackground[]{
    {"long_flows", "[[background]] with name, from, to and long_flows"},
    {"load", "[[background]] with name, from, to, load and sizes"},
    {"sizes", "sizes in [[background]]"},
    {"list", "[[background]] with name, from, to and list"},
    {"capture", "[[background]] with name, from, to and capture"},
    {"hosts", "network.background_hosts, or [[hosts]]"},
    {"placement", "placement in [[hosts]]"},
    {"controller", "transport.controller in [[background]]"},
    {"ecn", "transport.ecn in [[background]]"}};

void tell(const std::string& key, std::string_view now, ConfigIssues& issues) {
  issues.push_back({key,
                    "is of the language for clusters that advise no longer has: its file is an "
                    "experiment now. Write " +
                        std::string(now) + "; `outrider-lab advise --new FILE` writes one"});
}

void tell_of_job(const ConfigTable& job, const std::string& at, ConfigIssues& issues) {
  for (const auto& [key, now] : kOfJob)
    if (const ConfigValue* value = job.get(key);
        value != nullptr && value->as<ConfigTable>() == nullptr)
      tell(join_key(at, key), now, issues);
}

}  // namespace

ConfigIssues faults_of_old_cluster(const ConfigTable& file) {
  ConfigIssues issues;
  for (const auto& [key, now] : kRenamed)
    if (find(file, key) != nullptr) tell(std::string(key), now, issues);
  if (const ConfigValue* job = file.get("job")) {
    if (const auto* one = job->as<ConfigTable>()) tell_of_job(*one, "job", issues);
    const auto* list = job->as<ConfigValue::Array>();
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
      if (const auto* one = (*list)[i].as<ConfigTable>())
        tell_of_job(*one, join_key("", "job", i), issues);
  }
  const ConfigValue* background = file.get("background");
  const auto* table = background == nullptr ? nullptr : background->as<ConfigTable>();
  if (table == nullptr) return issues;
  for (const auto& [key, now] : kOfBackground)
    if (table->get(key) != nullptr) tell(join_key("background", key), now, issues);
  return issues;
}

}  // namespace outrider::lab
