#include "tools/lab/advise/remedy.h"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

namespace outrider::lab {
namespace {

/// Returns the text of a parameter; empty if the arms do not have it.
std::string parameter_text(const Parameters& parameters, std::string_view name) {
  const auto found =
      std::ranges::find_if(parameters, [&](const auto& one) { return one.first == name; });
  if (found == parameters.end()) return {};
  const auto* text = std::get_if<std::string>(&found->second);
  return text == nullptr ? std::string() : *text;
}

RemedyKind announced_kind(const Parameters& parameters) {
  if (const auto order = parameter_text(parameters, "switch.regulation.grant.order");
      !order.empty() && order != "off")
    return RemedyKind::kGrant;
  const std::string mode = parameter_text(parameters, "switch.regulation.mode");
  for (const auto& [name, kind] :
       {std::pair{"mark", RemedyKind::kMark}, std::pair{"pace", RemedyKind::kPace},
        std::pair{"window", RemedyKind::kWindow}, std::pair{"steer", RemedyKind::kSteer}})
    if (mode == name) return kind;
  throw std::runtime_error("no kind of remedy has regulation \"" + mode + '"');
}

/// The names of the metrics that judge a cluster.
struct TimeMetrics {
  const char* median;
  const char* p99;
  const char* over_alone;  ///< nullptr: the ratio of a mixture of jobs says nothing
};

const TimeMetrics& names_for(const Cluster& cluster) {
  static constexpr TimeMetrics kIteration{"iteration_seconds_median", "iteration_seconds_p99",
                                          "iteration_over_alone_median"};
  static constexpr TimeMetrics kBurst{"communication_seconds_median", "communication_seconds_p99",
                                      "communication_over_alone_median"};
  static constexpr TimeMetrics kIterations{"jobs_iteration_seconds_mean",
                                           "jobs_iteration_seconds_p99_mean", nullptr};
  static constexpr TimeMetrics kBursts{"jobs_communication_seconds_mean",
                                       "jobs_communication_seconds_p99_mean", nullptr};
  if (cluster.several_jobs()) return cluster.closed_loop() ? kIterations : kBursts;
  return cluster.closed_loop() ? kIteration : kBurst;
}

std::vector<JobTimes> times_of_jobs(const Summary& summary, const ArmSummary& arm,
                                    bool closed_loop) {
  std::vector<JobTimes> all;
  const auto& names = summary.cases[arm.cases.front()].metrics.jobs.each;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::vector<double> medians, tails;
    for (const std::size_t c : arm.cases) {
      const JobMetrics& job = summary.cases[c].metrics.jobs.each[i];
      medians.push_back(closed_loop ? job.iteration_seconds_median
                                    : job.communication_seconds_median);
      tails.push_back(closed_loop ? job.iteration_seconds_p99 : job.communication_seconds_p99);
    }
    all.push_back(
        {.name = names[i].name, .median_seconds = mean(medians), .p99_seconds = mean(tails)});
  }
  return all;
}

}  // namespace

RemedyNature nature_of(const std::string& label, const Parameters& parameters) {
  if (label == "off") return {};
  if (label.starts_with("off-order")) return {.kind = RemedyKind::kOrder};
  const std::string scheduler = parameter_text(parameters, "switch.scheduler");
  const bool two_queues = !scheduler.empty() && scheduler != "fifo";
  if (label.starts_with("on")) return {announced_kind(parameters), true, two_queues};
  return {two_queues ? RemedyKind::kTwoQueues : RemedyKind::kMarking, false, two_queues};
}

bool is_possible(const RemedyNature& nature, const Cluster& cluster) {
  if (nature.kind == RemedyKind::kNothing) return true;
  if (nature.kind == RemedyKind::kOrder) return cluster.change.policy && cluster.has_order();
  const SwitchFreedom needed =
      nature.announced ? SwitchFreedom::kOutrider : SwitchFreedom::kSettings;
  return cluster.change.switches >= needed && (cluster.change.hosts || !nature.announced) &&
         (cluster.network.second_queue || !nature.two_queues);
}

std::string_view name_of(RemedyKind kind) noexcept {
  static constexpr std::array<std::string_view, 9> kNames{
      "nothing", "marking", "two queues", "order", "mark", "pace", "window", "grant", "steer"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<Remedy> remedies_of(const Summary& summary, const Cluster& cluster) {
  const auto off = std::ranges::find(summary.arms, "off", &ArmSummary::label);
  if (off == summary.arms.end()) throw std::runtime_error("the results have no arm \"off\"");
  constexpr std::string_view kShort = "small_flow_completion_seconds_p99";
  const TimeMetrics& names = names_for(cluster);
  const double short_today = off->metric(kShort).value.value;
  std::vector<Remedy> all;
  for (const ArmSummary& arm : summary.arms) {
    const ArmMetric time = arm.metric(names.median);
    all.push_back({.label = arm.label,
                   .nature = nature_of(arm.label, arm.parameters),
                   .seeds = arm.cases.size(),
                   .time_seconds = time.value,
                   .tail_seconds = arm.metric(names.p99).value,
                   .change = time.change,
                   .over_alone = names.over_alone == nullptr
                                     ? kNotDefined
                                     : arm.metric(names.over_alone).value.value,
                   .lost = arm.metric("background_bytes_lost_per_burst_byte").value,
                   .short_flows = arm.metric(kShort).value.value / short_today,
                   .jobs = times_of_jobs(summary, arm, cluster.closed_loop())});
  }
  return all;
}

}  // namespace outrider::lab
