#include "tools/lab/advise/remedy.h"

#include <algorithm>
#include <array>
#include <initializer_list>
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

/// Says whether two arms differ in parameters whose names begin with one of these.
bool changes(const Parameters& one, const Parameters& other,
             std::initializer_list<std::string_view> beginnings) {
  return std::ranges::any_of(one, [&](const auto& parameter) {
    const bool named = std::ranges::any_of(
        beginnings, [&](std::string_view begin) { return parameter.first.starts_with(begin); });
    return named && std::ranges::find(other, parameter) == other.end();
  });
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

const TimeMetrics& names_for(const AdvisedTraits& traits) {
  static constexpr TimeMetrics kIteration{"iteration_seconds_median", "iteration_seconds_p99",
                                          "iteration_over_alone_median"};
  static constexpr TimeMetrics kBurst{"communication_seconds_median", "communication_seconds_p99",
                                      "communication_over_alone_median"};
  static constexpr TimeMetrics kIterations{"jobs_iteration_seconds_mean",
                                           "jobs_iteration_seconds_p99_mean", nullptr};
  static constexpr TimeMetrics kBursts{"jobs_communication_seconds_mean",
                                       "jobs_communication_seconds_p99_mean", nullptr};
  if (traits.several_jobs) return traits.closed_loop ? kIterations : kBursts;
  return traits.closed_loop ? kIteration : kBurst;
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

constexpr std::string_view kSwitches = "switches";

/// A key of [change] on which a remedy depends.
struct Need {
  std::string_view key;
  bool given;  ///< its value is enough
};

std::vector<Need> needs_of(const RemedyNature& nature, const AdviceChange& change) {
  const RemedyKind kind = nature.kind;
  std::vector<Need> all;
  if (kind == RemedyKind::kOrder) all.push_back({"policy", change.policy});
  if (kind == RemedyKind::kNics || kind == RemedyKind::kTelemetry)
    all.push_back({"nics", change.nics});
  if (kind == RemedyKind::kPauses) all.push_back({"pauses", change.pauses});
  if (nature.announced) all.push_back({"hosts", change.hosts});
  if (nature.two_queues) all.push_back({"second_queue", change.second_queue});
  if (kind != RemedyKind::kNothing && kind != RemedyKind::kOrder && kind != RemedyKind::kNics)
    all.push_back({kSwitches, change.switches >= (nature.outrider ? SwitchFreedom::kOutrider
                                                                  : SwitchFreedom::kSettings)});
  return all;
}

}  // namespace

RemedyNature nature_of(const std::string& label, const Parameters& parameters,
                       const Parameters& off) {
  if (label == "off") return {};
  if (label.starts_with("off-order")) return {.kind = RemedyKind::kOrder};
  const auto shares = [](const Parameters& of) {
    const std::string scheduler = parameter_text(of, "switch.scheduler");
    return !scheduler.empty() && scheduler != "fifo";
  };
  const bool own_queue = shares(parameters) && !shares(off);
  RemedyNature nature{.two_queues = own_queue};
  if (label.starts_with("on")) {
    nature.announced = nature.outrider = true;
    nature.kind = announced_kind(parameters);
    return nature;
  }
  if (parameter_text(parameters, "ddl.transport.roce.controller") == "hpcc") {
    nature.outrider = true;
    nature.kind = RemedyKind::kTelemetry;
  } else if (changes(parameters, off,
                     {"switch.scheduler", "switch.share_limit", "switch.ddl_queue.",
                      "switch.background_queue."})) {
    nature.kind = RemedyKind::kTwoQueues;
    nature.outrider = parameter_text(parameters, "switch.background_queue.marker.occupancy") ==
                          "own_and_higher" ||
                      !parameter_text(parameters, "switch.background_queue.demotion.after").empty();
  } else if (changes(parameters, off, {"switch.queue.lossless."})) {
    nature.kind = RemedyKind::kPauses;
  } else {
    const bool of_nics = changes(parameters, off, {"ddl.transport.roce."});
    nature.kind = of_nics ? RemedyKind::kNics : RemedyKind::kMarking;
    nature.outrider = parameter_text(parameters, "switch.regulation.mode") == "fair_window";
  }
  return nature;
}

bool is_possible(const RemedyNature& nature, const AdvisedFile& advised) {
  return (nature.kind != RemedyKind::kOrder || advised.traits.has_order) &&
         std::ranges::all_of(needs_of(nature, advised.change), &Need::given);
}

std::vector<std::string> needs_by_default(const RemedyNature& nature, const AdvisedFile& advised) {
  std::vector<std::string> all;
  for (const Need& need : needs_of(nature, advised.change))
    if (std::ranges::find(advised.change_by_default, need.key) != advised.change_by_default.end() &&
        (nature.outrider || need.key != kSwitches))
      all.push_back("change." + std::string(need.key) +
                    (need.key == kSwitches ? " = \"outrider\"" : " = true"));
  return all;
}

std::string_view name_of(RemedyKind kind) noexcept {
  static constexpr std::array<std::string_view, 12> kNames{
      "nothing", "marking", "NICs",   "pauses", "two queues", "order",
      "mark",    "pace",    "window", "grant",  "steer",      "telemetry"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string judging_metric(const AdvisedTraits& traits) { return names_for(traits).median; }

std::string few_iterations_text(const Case& c) {
  constexpr std::uint32_t kLeast = 2;
  const auto fewest = std::ranges::min_element(c.traffic.jobs, {}, &tg::JobConfig::iterations);
  if (fewest == c.traffic.jobs.end() || fewest->iterations >= c.skip_iterations + kLeast) return {};
  return "job.iterations = " + std::to_string(fewest->iterations) +
         " and skip_iterations = " + std::to_string(c.skip_iterations) +
         " leave one iteration of each run, which says little of others; give more iterations";
}

std::vector<Remedy> remedies_of(const Summary& summary, const AdvisedTraits& traits) {
  const auto off = std::ranges::find(summary.arms, "off", &ArmSummary::label);
  if (off == summary.arms.end()) throw std::runtime_error("the results have no arm \"off\"");
  constexpr std::string_view kShort = "small_flow_completion_seconds_p99";
  const TimeMetrics& names = names_for(traits);
  const double short_today = off->metric(kShort).value.value;
  std::vector<Remedy> all;
  for (const ArmSummary& arm : summary.arms) {
    const ArmMetric time = arm.metric(names.median);
    all.push_back({.label = arm.label,
                   .nature = nature_of(arm.label, arm.parameters, off->parameters),
                   .seeds = arm.cases.size(),
                   .time_seconds = time.value,
                   .tail_seconds = arm.metric(names.p99).value,
                   .change = time.change,
                   .over_alone = names.over_alone == nullptr
                                     ? kNotDefined
                                     : arm.metric(names.over_alone).value.value,
                   .lost = arm.metric("background_bytes_lost_per_burst_byte").value,
                   .short_flows = arm.metric(kShort).value.value / short_today,
                   .jobs = times_of_jobs(summary, arm, traits.closed_loop)});
  }
  return all;
}

}  // namespace outrider::lab
