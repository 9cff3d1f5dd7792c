#include "tools/lab/report/report_arm.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "tools/lab/summary/group_figures.h"
#include "tools/lab/summary/metric.h"

namespace outrider::lab {

namespace {

constexpr std::size_t kTimes = 200;   // times of a distribution; a figure cannot show more
constexpr std::size_t kBursts = 300;  // bursts in an arm's time lines

double number(const ReportJson& value) {
  return value.is_number() ? value.get<double>() : kNotDefined;
}

Estimate estimate(const ReportJson& e) {
  return {.value = number(e.at("value")), .low = number(e.at("low")), .high = number(e.at("high"))};
}

/// Returns six numbers for an entry of summary.json: value, its bounds, change, its bounds.
ReportJson estimates_json(const ReportJson& entry) {
  ReportJson out = ReportJson::array();
  for (const char* of : {"value", "change"}) {
    const Estimate e = estimate(entry.at(of));
    for (const double v : {e.value, e.low, e.high}) out.push_back(short_number(v));
  }
  return out;
}

ReportJson metrics_json(const ReportJson& metrics) {
  ReportJson out = ReportJson::object();
  for (const auto& m : lab::metrics()) {
    const std::string name(m.name);
    if (metrics.contains(name)) out[name] = estimates_json(metrics.at(name));
  }
  return out;
}

ReportJson times_json(std::vector<double> seconds) {
  std::ranges::sort(seconds);
  ReportJson out = ReportJson::array();
  if (seconds.size() <= kTimes) {
    for (const double s : seconds) out.push_back(short_number(s * 1e3));
    return out;
  }
  for (std::size_t i = 0; i < kTimes; ++i)
    out.push_back(short_number(
        quantile(seconds, static_cast<double>(i) / static_cast<double>(kTimes - 1)) * 1e3));
  return out;
}

/// Returns the mean parts over the pushes with attribution; null if there are none.
ReportJson attribution_json(const ReportJson& cases, const ReportArm& arm) {
  ReportJson out = ReportJson::object();
  double bursts = 0;
  std::vector<std::pair<std::string, double>> sums;
  for (const std::size_t i : arm.cases) {
    const auto& metrics = cases.at(i).at("metrics");
    if (!metrics.contains("attribution")) continue;
    const auto& own = metrics.at("attribution");
    const auto weight = own.at("push_bursts").get<double>();
    bursts += weight;
    std::size_t k = 0;
    for (const auto& [part, mean] : own.at("mean_seconds").items()) {
      if (k == sums.size()) sums.emplace_back(part, 0);
      sums[k++].second += mean.get<double>() * weight;
    }
  }
  if (bursts == 0) return nullptr;
  for (const auto& [part, sum] : sums) out[part] = short_number(sum / bursts * 1e3);
  return out;
}

struct Ends {
  double measured = 0;
  double all = 0;
};

/// Returns packets by class and reason per run, at the measured queue and at all switches. Pairs
/// that never occurred are left out.
/// @param key  "ce_marks" or "drops"
ReportJson ends_json(const ReportJson& cases, const ReportArm& arm, const char* key) {
  std::vector<std::pair<std::pair<std::string, std::string>, Ends>> sums;
  const auto of = [&sums](const std::string& c, const std::string& reason) -> Ends& {
    const std::pair name{c, reason};
    auto it = std::ranges::find(sums, name, [](const auto& s) { return s.first; });
    if (it == sums.end()) it = sums.insert(sums.end(), {name, {}});
    return it->second;
  };
  for (const std::size_t i : arm.cases) {
    const auto& metrics = cases.at(i).at("metrics");
    for (const auto& [c, reasons] : metrics.at(key).items())
      for (const auto& [reason, n] : reasons.items()) of(c, reason).all += n.get<double>();
    for (const auto& [c, reasons] : metrics.at("measured_queue").at(key).items())
      for (const auto& [reason, n] : reasons.items()) of(c, reason).measured += n.get<double>();
  }
  ReportJson out = ReportJson::array();
  const auto runs = static_cast<double>(arm.cases.size());
  for (const auto& [name, n] : sums)
    if (n.all > 0 || n.measured > 0)
      out.push_back({{"class", name.first},
                     {"reason", name.second},
                     {"measured", short_number(n.measured / runs)},
                     {"all", short_number(n.all / runs)}});
  return out;
}

/// Returns the figures of each group of background; null without groups.
ReportJson groups_of_arm_json(const ReportJson& arm) {
  if (!arm.contains("background_groups")) return nullptr;
  ReportJson out = ReportJson::array();
  for (const auto& group : arm.at("background_groups")) {
    ReportJson figures = ReportJson::object();
    for (const auto& [name, entry] : group.at("figures").items())
      figures[name] = estimates_json(entry);
    out.push_back({{"name", group.at("name")}, {"figures", std::move(figures)}});
  }
  return out;
}

/// Returns bursts of whole iterations, one seed after another, as long as there is room.
ReportJson bursts_json(const ReportJson& cases, const ReportArm& arm,
                       const std::vector<ReportRun>& runs) {
  ReportJson out = ReportJson::array();
  for (const std::size_t i : arm.cases)
    for (const auto& it : runs[i].iterations) {
      if (!out.empty() && out.size() + it.bursts.size() > kBursts) return out;
      for (const auto& b : it.bursts) {
        const auto ms = [&it](std::optional<std::int64_t> at, std::int64_t ahead = 0) {
          return at ? short_number(static_cast<double>(*at - ahead - *it.due_ns) * 1e-6)
                    : ReportJson(nullptr);
        };
        out.push_back({cases.at(i).at("seed"), it.job, it.iteration, b.worker, ms(b.due_ns),
                       ms(b.start_ns), ms(b.ack_ns), ms(b.first_sent_ns),
                       ms(b.queue_first_ns, runs[i].switch_ahead_ns), ms(b.delivered_ns), b.rtos});
      }
    }
  return out;
}

}  // namespace

ReportJson arm_json(const ReportJson& summary, const ReportArm& arm,
                    const std::vector<ReportRun>& runs) {
  const auto& cases = summary.at("cases");
  std::vector<double> times;
  std::vector<const JobSamples*> alone;
  std::size_t iterations = 0;
  for (const std::size_t i : arm.cases) {
    const auto own = communication_seconds(runs[i].iterations);
    times.insert(times.end(), own.begin(), own.end());
    alone.push_back(&runs[i].alone_communication_seconds);
    iterations += runs[i].iterations.size();
  }
  return {{"label", arm.json->at("label")},
          {"name", arm.name},
          {"point", arm.point},
          {"off", arm.off},
          {"against", arm.against},
          {"beside", arm.json->value("beside", ReportJson::array())},
          {"against_off", metrics_json(arm.json->value("against_off", ReportJson::object()))},
          {"seeds", arm.json->at("seeds")},
          {"iterations", iterations},
          {"complete", times.size()},
          {"metrics", metrics_json(arm.json->at("metrics"))},
          {"times_ms", times_json(std::move(times))},
          {"alone_ms", short_number(mean_of_jobs(alone, &median) * 1e3)},
          {"groups", groups_of_arm_json(*arm.json)},
          {"attribution", attribution_json(cases, arm)},
          {"marks", ends_json(cases, arm, "ce_marks")},
          {"drops", ends_json(cases, arm, "drops")},
          {"bursts", bursts_json(cases, arm, runs)}};
}

ReportJson group_rows_json() {
  ReportJson out = ReportJson::array();
  for (const GroupFigure& f : group_figures()) {
    const Column column = column_of(f);
    out.push_back({{"name", f.name},
                   {"heading", column.heading},
                   {"unit", column.unit},
                   {"scale", column.scale},
                   {"help", f.help},
                   {"change", f.change}});
  }
  return out;
}

ReportJson metric_rows_json() {
  ReportJson out = ReportJson::array();
  for (const auto& m : metrics()) {
    const Shown shown = m.column.scale == 1 ? Shown{name_of(m.unit), 1} : shown_in(m.unit);
    out.push_back({{"name", m.name},
                   {"unit", shown.unit},
                   {"scale", shown.scale},
                   {"help", m.help},
                   {"over", text_of(m)},
                   {"change", m.change}});
  }
  return out;
}

}  // namespace outrider::lab
