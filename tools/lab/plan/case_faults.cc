#include "tools/lab/plan/case_faults.h"

#include <algorithm>
#include <string_view>

#include "common/config/config_value.h"
#include "tools/lab/experiment/program_settings.h"

namespace outrider::lab {
namespace {

/// Returns "switch.port.queue" for both "switch[0].port[3].queue" and "switch[1].port[0].queue".
std::string without_indices(const std::string& key) {
  std::string text;
  bool inside = false;
  for (const char c : key) {
    inside |= c == '[';
    if (!inside) text += c;
    inside &= c != ']';
  }
  return text;
}

/// Returns the key that an experiment has for one of a generated configuration:
/// "switch.queue.limit_bytes" for "switch: switch[0].port[3].queue.limit_bytes". What follows from
/// the topology keeps the generated key.
std::string key_of_experiment(const std::string& generated) {
  struct Rule {
    std::string_view generated, experiment;
  };
  constexpr Rule kRules[]{
      {"switch: switch.port.queues.queue.", "switch.queue."},
      {"switch: switch.port.queues.marker.", "switch.marker."},
      {"switch: switch.port.queues.regulation.", "switch.regulation."},
      {"switch: switch.port.queues.floor_rate", "switch.background_queue.floor"},
      {"switch: switch.port.queues.weight", "switch.ddl_queue.weight"},
      {"switch: switch.port.queues.", "switch.ddl_queue."},
      {"switch: switch.port.queue.", "switch.queue."},
      {"switch: switch.port.marker.", "switch.marker."},
      {"switch: switch.port.regulation.", "switch.regulation."},
      {"switch: switch.signals.", "switch.signals."},
      {"trafficgen: transport.", "transport."},
      {"trafficgen: job.announce.threshold_packets", "h_packets"},
      {"trafficgen: job.first_due", "warm_up_seconds"},
      {"trafficgen: job.", "job."},
      {"trafficgen: flows.distribution", "background.sizes"},
      {"trafficgen: flows.list", "background.list"},
      {"trafficgen: flows.queue_pairs", "background.queue_pairs"},
      {"trafficgen: long_flows.flows_per_pair", "background.flows_per_pair"},
      {"trafficgen: long_flows.start_spread", "background.start_spread"},
      {"trafficgen: capture.file", "background.capture"},
      {"trafficgen: requests.", "requests."},
      {"trafficgen: send_jitter", "trafficgen.send_jitter"},
      {"trafficgen: attribution", "trafficgen.attribution"},
      {"trafficgen: connection_sample_period", "trafficgen.connection_sample_period"}};
  const std::string key = without_indices(generated);
  for (const auto& [from, to] : kRules) {
    if (!key.starts_with(from)) continue;
    std::string setting = std::string(to) + key.substr(from.size());
    const std::string_view parameter = parameter_of(setting);
    return parameter.empty() ? setting : std::string(parameter);
  }
  return key;
}

/// Says a rule of the switch in the words of an experiment, whose signal_form stands for the
/// switch's accept_tos.
ConfigIssue in_words_of_experiment(const ConfigIssue& issue) {
  if (!issue.key.ends_with("signals.accept_from") ||
      issue.problem.find("accept_tos") == std::string::npos)
    return issue;
  return {"trafficgen: job.announce.signal_form",
          "\"tos\": needs switch.signals.accept_from, because any DSCP from 32 up reads as START; "
          "\"udp\" needs none"};
}

/// Returns whether both have the same value of a setting, as it is written, or of a parameter.
bool same_value(const CaseParameters& a, const CaseParameters& b, const std::string& key) {
  if (is_setting(key)) {
    const ConfigValue* x = find(a.settings, key);
    const ConfigValue* y = find(b.settings, key);
    return x == nullptr || y == nullptr ? x == y : *x == *y;
  }
  const Parameters of_a = to_all_parameters(a), of_b = to_all_parameters(b);
  const auto x = std::ranges::find(of_a, key, &Parameters::value_type::first);
  const auto y = std::ranges::find(of_b, key, &Parameters::value_type::first);
  return x == of_a.end() || y == of_b.end() || x->second == y->second;
}

/// Returns the key by which the experiment says it: that of all transports, of the bursts' or of
/// the background's.
std::string key_as_written(const CaseParameters& own, std::string key) {
  if (!key.starts_with("transport.") || find(own.settings, key) != nullptr) return key;
  for (const char* flows : {"ddl.", "background."})
    if (find(own.settings, flows + key) != nullptr) return flows + key;
  return key;
}

bool is_of_file(const std::string& key) {
  constexpr std::string_view kTables[]{"network.", "fabric", "hosts[", "job["};
  return key == "link" || key == "switch" || key.find("background[") != std::string::npos ||
         std::ranges::any_of(kTables, [&key](auto table) { return key.starts_with(table); });
}

}  // namespace

void CaseFaults::add(const std::string& origin, const std::string& label, const CaseParameters& own,
                     const ConfigIssues& found) {
  unkept_.count_unkept(found);
  for (const auto& one : found) {
    const ConfigIssue issue = in_words_of_experiment(one);
    const bool of_file = is_of_file(issue.key);
    const std::string key = of_file ? issue.key : key_as_written(own, key_of_experiment(issue.key));
    auto known = std::ranges::find_if(
        faults_, [&](const Fault& f) { return f.key == key && f.problem == issue.problem; });
    if (known == faults_.end())
      known = faults_.insert(known, {.key = key, .problem = issue.problem, .of_file = of_file});
    const bool listed = std::ranges::any_of(
        known->places, [&](const Place& p) { return p.origin == origin && p.label == label; });
    if (!listed) known->places.push_back({origin, label, !same_value(own, base_, key)});
  }
}

/// Says whether `[parameters]`, or a default, is at fault: then the arms have nothing to mend.
bool CaseFaults::is_shared(const Fault& fault, std::size_t rows) const {
  if (std::ranges::any_of(fault.places, &Place::own)) return false;
  return fault.places.size() == rows ||
         (is_setting(fault.key) && find(base_.settings, fault.key) != nullptr);
}

ConfigIssues CaseFaults::told(std::size_t rows) const {
  ConfigIssues issues = unkept_;
  for (const auto& fault : faults_) {
    const bool generated = fault.key.find(": ") != fault.key.npos;
    if (fault.of_file) {
      issues.push_back({fault.key, fault.problem});
    } else if (!generated && is_shared(fault, rows)) {
      std::string problem = fault.problem;
      if (fault.places.size() < rows) problem += ", in arm \"" + fault.places.front().label + '"';
      issues.push_back({join_key("parameters", fault.key), problem});
    } else {
      for (const auto& place : fault.places)
        issues.push_back(
            {place.origin, "arm \"" + place.label + "\": " + fault.key + ": " + fault.problem});
    }
  }
  return issues;
}

}  // namespace outrider::lab
