#include "switch/control/telemetry.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "switch/report/figures.h"
#include "switch/report/report_json.h"

namespace outrider::sw {
namespace {

using Json = nlohmann::json;
using Table = TelemetryValue::Table;

TelemetryValue value_of(const Json& json);

Table table_of(const Json& object) {
  Table table;
  for (const auto& [key, value] : object.items()) table.push_back({key, value_of(value)});
  return table;
}

TelemetryValue value_of(const Json& json) {
  if (json.is_object()) return {table_of(json)};
  if (json.is_string()) return {json.get<std::string>()};
  if (json.is_boolean()) return {std::uint64_t{json.get<bool>()}};
  if (json.is_null()) return {std::string("not counted")};
  if (json.is_array()) return {json.get<TelemetryValue::List>()};
  return {json.get<std::uint64_t>()};
}

std::string port_name(const QueueReport& q) { return q.switch_name + '.' + q.port_name; }

/// Returns the reports of a port's queues.
/// @throws std::invalid_argument that lists the ports if there is none of that name
std::vector<const QueueReport*> queues_of_port(const SwitchReport& report, std::string_view port) {
  std::vector<const QueueReport*> found;
  for (const auto& queue : report.queues)
    if (port_name(queue) == port || queue.port_name == port) found.push_back(&queue);
  const bool one = std::ranges::all_of(
      found, [&](const QueueReport* q) { return q->switch_name == found.front()->switch_name; });
  if (!found.empty() && one) return found;
  throw std::invalid_argument(
      (found.empty() ? "no such port: \"" : "ports of several switches: \"") + std::string(port) +
      "\"; /outrider/ports lists them");
}

/// Returns the figures whose rows say `outlined`, summed over classes and reasons.
Table outline_of(const QueueReport& q) {
  std::vector<std::pair<std::string, std::uint64_t>> sums;
  for (const FigureValue& v : figures_of(q)) {
    if (!v.figure.in_outline || (v.figure.rare && v.value == 0)) continue;
    if (sums.empty() || sums.back().first != v.figure.field) sums.emplace_back(v.figure.field, 0);
    sums.back().second += v.value;
  }
  Table table;
  for (auto& [name, sum] : sums) table.push_back({std::move(name), {sum}});
  return table;
}

TelemetryValue telemetry_of_devices(const std::vector<SwitchSnapshots::Device>& devices) {
  Table table;
  for (std::size_t d = 0; d < devices.size(); ++d)
    table.push_back({"device" + std::to_string(d),
                     {Table{{"name", {devices[d].name}},
                            {"link_up", {std::uint64_t{devices[d].up}}},
                            {"tx_dropped", {sum(devices[d].state.tx_dropped)}}}}});
  return {std::move(table)};
}

TelemetryValue telemetry_of_reload(const ReloadResult& result) {
  TelemetryValue::List lines;
  for (const auto& issue : result.issues) lines.push_back(issue.key + ": " + issue.problem);
  for (const auto& change : result.changes)
    lines.push_back(change.key + ": " + change.before + " -> " + change.after);
  // Strings of rte_tel are at most 127 characters long.
  for (auto& line : lines) line.resize(std::min(line.size(), std::size_t{127}));
  if (!result.issues.empty()) return {Table{{"refused", {std::move(lines)}}}};
  return {Table{{"changed", {std::move(lines)}}}};
}

}  // namespace

TelemetryValue telemetry_of_switch(const SwitchReport& report) {
  SwitchReport totals = report;
  totals.queues.clear();
  Json json = Json::parse(to_json(totals));
  for (const char* other : {"queues", "drops", "poll_gaps", "kind", "bin_ns"}) json.erase(other);
  return value_of(json);
}

TelemetryValue telemetry_of_ports(const SwitchReport& report) {
  TelemetryValue::List names;
  for (const auto& queue : report.queues)
    if (queue.queue == 0) names.push_back(port_name(queue));
  return {Table{{"ports", {std::move(names)}}}};
}

TelemetryValue telemetry_of_port(const SwitchReport& report, std::string_view port) {
  Table table;
  for (const auto* queue : queues_of_port(report, port))
    table.push_back({"queue" + std::to_string(queue->queue), {outline_of(*queue)}});
  return {std::move(table)};
}

TelemetryValue telemetry_of_queue(const SwitchReport& report, std::string_view parameters) {
  const auto comma = parameters.rfind(',');
  if (comma == parameters.npos) throw std::invalid_argument("needs a port and a queue: s.p,0");
  const auto queues = queues_of_port(report, parameters.substr(0, comma));
  const std::string_view number = parameters.substr(comma + 1);
  std::size_t q = queues.size();
  const auto [end, error] = std::from_chars(number.begin(), number.end(), q);
  if (error != std::errc{} || end != number.end() || q >= queues.size())
    throw std::invalid_argument("no such queue: \"" + std::string(number) + "\"; the port has " +
                                std::to_string(queues.size()) + ", from 0");
  SwitchReport one;
  QueueReport& queue = one.queues.emplace_back();
  static_cast<QueueCounts&>(queue) = *queues[q];
  Json json = Json::parse(to_json(one))["queues"][0];
  for (const char* other : {"switch_name", "port_name", "queue", "beyond_by_name", "bins", "bursts",
                            "bursts_not_recorded", "burst_sojourn_ns", "interval_sojourn_ns"})
    json.erase(other);
  return value_of(json);
}

TelemetryValue telemetry_of_drops(const SwitchReport& report) {
  Table table;
  for (std::size_t c = 0; c < kTrafficClasses; ++c) {
    Table by_reason;
    for (std::size_t r = 0; r < kDropReasons; ++r)
      if (report.drops.values[c][r] != 0)
        by_reason.push_back({std::string(kDropReasonNames[r]), {report.drops.values[c][r]}});
    table.push_back({std::string(kTrafficClassNames[c]), {std::move(by_reason)}});
  }
  return {std::move(table)};
}

void add_commands(TelemetryCommands& commands, const SwitchSnapshots& snapshots,
                  std::function<ReloadResult()> reload) {
  commands.add("/outrider/switch", "Counters of the process; no parameters",
               [&](std::string_view) { return telemetry_of_switch(snapshots.read()); });
  commands.add("/outrider/ports", "Names of the ports; no parameters",
               [&](std::string_view) { return telemetry_of_ports(snapshots.read()); });
  commands.add("/outrider/port", "Outline of a port's queues. Parameters: PORT or SWITCH.PORT",
               [&](std::string_view port) { return telemetry_of_port(snapshots.read(), port); });
  commands.add("/outrider/queue", "Every counter of a queue. Parameters: PORT,QUEUE",
               [&](std::string_view p) { return telemetry_of_queue(snapshots.read(), p); });
  commands.add("/outrider/drops", "Drops of the process by class and reason; no parameters",
               [&](std::string_view) { return telemetry_of_drops(snapshots.read()); });
  commands.add("/outrider/devices", "Link and transmit drops of each device; no parameters",
               [&](std::string_view) { return telemetry_of_devices(snapshots.read_devices()); });
  commands.add(
      "/outrider/reload", "Read the configuration again, as SIGHUP does; no parameters",
      [reload = std::move(reload)](std::string_view) { return telemetry_of_reload(reload()); });
}

}  // namespace outrider::sw
