#include "tools/lab/measure/metrics_groups.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "tools/lab/experiment/background_group.h"

namespace outrider::lab {

namespace {

/// What the rows of a group have together.
struct GroupSums {
  double bytes = 0;
  double long_flows = 0, squares = 0;  ///< of these, of what each delivered
  bool come_and_go = false;            ///< it has flows with sizes
  double offered_bytes = 0;            ///< of these, or of a capture
  double completed = 0, unfinished = 0;
  double retransmitted = kNotDefined;
  double requests = kNotDefined;
  Histogram completion_ns{}, slowdown_milli{}, latency_ns{};
  double frames_sent = 0, frames_received = 0;
};

/// Returns the group of a row, or of what a row has made: "NAME", "NAME_back", "NAME 3".
std::string_view group_of(std::string_view name) {
  name = name.substr(0, name.find(' '));
  const std::string_view back = kBackRow;
  if (name.ends_with(back)) name.remove_suffix(back.size());
  return name;
}

using Sums = std::map<std::string_view, GroupSums>;

/// Adds to a sum that is not defined before the first of its values.
void add_to(double& sum, std::uint64_t value) {
  sum = (std::isnan(sum) ? 0 : sum) + static_cast<double>(value);
}

/// Calls f(sums, entry) for each entry of a list that is of a group.
template <class List, class F>
void for_each_of_groups(const List& list, Sums& sums, F f) {
  for (const auto& entry : list)
    if (const auto it = sums.find(group_of(entry.name)); it != sums.end()) f(it->second, entry);
}

/// Returns the payload of a request and its answer. @param name  of a report, which begins with the
/// name of the row
double request_bytes(const Case& definition, std::string_view name) {
  const auto& rows = definition.traffic.requests;
  const auto row = std::ranges::find(rows, name.substr(0, name.find(' ')),
                                     [](const auto& r) { return std::string_view(r.name); });
  return row == rows.end() ? 0 : static_cast<double>(row->request_bytes + row->response_bytes);
}

void add_rows_of(const Case& definition, const tg::GeneratorReport& report, Sums& sums) {
  for_each_of_groups(report.flows, sums, [](GroupSums& s, const tg::FlowReport& flow) {
    if (flow.traffic_class != TrafficClass::kBackground) return;
    const auto bytes = static_cast<double>(flow.delivered_bytes);
    s.bytes += bytes;
    s.squares += bytes * bytes;
    ++s.long_flows;
    add_to(s.retransmitted, flow.retransmitted);
  });
  for_each_of_groups(report.flow_groups, sums, [](GroupSums& s, const tg::FlowGroupReport& flows) {
    s.bytes += static_cast<double>(flows.delivered_bytes);
    s.come_and_go = true;
    s.offered_bytes += static_cast<double>(flows.arrived_bytes);
    s.completed += static_cast<double>(flows.completed);
    s.unfinished += static_cast<double>(flows.refused + flows.failed + flows.open);
    add_to(s.retransmitted, flows.retransmitted);
    for (const auto& size : flows.classes) {
      s.completion_ns.merge(size.completion_ns);
      s.slowdown_milli.merge(size.slowdown_milli);
    }
  });
  for_each_of_groups(report.requests, sums, [&](GroupSums& s, const tg::RequestReport& pair) {
    s.bytes += static_cast<double>(pair.completed) * request_bytes(definition, pair.name);
    s.latency_ns.merge(pair.latency_ns);
    add_to(s.requests, pair.completed);
  });
  for_each_of_groups(report.captures, sums, [](GroupSums& s, const tg::CaptureReport& capture) {
    s.bytes += static_cast<double>(capture.received_bytes);
    s.offered_bytes += static_cast<double>(capture.sent_bytes);
    s.frames_sent += static_cast<double>(capture.sent);
    s.frames_received += static_cast<double>(capture.received);
  });
}

GroupMetrics metrics_of(const std::string& name, const GroupSums& s, double all_bytes,
                        double seconds) {
  const auto of = [](const Histogram& values, double q, double unit) {
    return values.count() == 0 ? kNotDefined : static_cast<double>(values.quantile(q)) * unit;
  };
  GroupMetrics m{.name = name,
                 .retransmitted_packets = s.retransmitted,
                 .flow_completion_seconds_median = of(s.completion_ns, 0.5, 1e-9),
                 .flow_completion_seconds_p99 = of(s.completion_ns, 0.99, 1e-9),
                 .flow_slowdown_median = of(s.slowdown_milli, 0.5, 1e-3),
                 .flow_slowdown_p99 = of(s.slowdown_milli, 0.99, 1e-3),
                 .requests_completed = s.requests,
                 .request_latency_seconds_median = of(s.latency_ns, 0.5, 1e-9),
                 .request_latency_seconds_p99 = of(s.latency_ns, 0.99, 1e-9)};
  if (s.come_and_go) {
    m.flows_completed = s.completed;
    m.flows_unfinished = s.unfinished;
  }
  if (s.offered_bytes > 0) {
    m.undelivered_fraction = std::max(0.0, 1 - s.bytes / s.offered_bytes);
    if (seconds > 0) m.offered_bits_per_second = s.offered_bytes * 8 / seconds;
  }
  if (seconds > 0) m.goodput_bits_per_second = s.bytes * 8 / seconds;
  if (all_bytes > 0) m.share = s.bytes / all_bytes;
  if (s.squares > 0) m.fairness = s.bytes * s.bytes / (s.long_flows * s.squares);
  if (s.frames_sent > 0) m.capture_frames_lost_fraction = 1 - s.frames_received / s.frames_sent;
  return m;
}

}  // namespace

std::vector<GroupMetrics> measure_groups(const Case& definition,
                                         const tg::GeneratorReport& report) {
  std::vector<GroupMetrics> all;
  if (definition.background_groups.empty()) return all;
  Sums sums;
  for (const std::string& name : definition.background_groups) sums[name];
  add_rows_of(definition, report, sums);
  double bytes = 0;
  for (const auto& [name, of_group] : sums) bytes += of_group.bytes;
  for (const std::string& name : definition.background_groups)
    all.push_back(metrics_of(name, sums[name], bytes, static_cast<double>(report.end_ns) / 1e9));
  return all;
}

}  // namespace outrider::lab
