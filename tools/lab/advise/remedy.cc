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
std::string text_of(const Parameters& parameters, std::string_view name) {
  const auto found =
      std::ranges::find_if(parameters, [&](const auto& one) { return one.first == name; });
  if (found == parameters.end()) return {};
  const auto* text = std::get_if<std::string>(&found->second);
  return text == nullptr ? std::string() : *text;
}

RemedyKind announced_kind(const Parameters& parameters) {
  if (const auto order = text_of(parameters, "switch.regulation.grant.order");
      !order.empty() && order != "off")
    return RemedyKind::kGrant;
  const std::string mode = text_of(parameters, "regulation");
  for (const auto& [name, kind] :
       {std::pair{"mark", RemedyKind::kMark}, std::pair{"pace", RemedyKind::kPace},
        std::pair{"window", RemedyKind::kWindow}, std::pair{"steer", RemedyKind::kSteer}})
    if (mode == name) return kind;
  throw std::runtime_error("no kind of remedy has regulation \"" + mode + '"');
}

}  // namespace

RemedyNature nature_of(const std::string& label, const Parameters& parameters) {
  if (label == "off") return {};
  const bool two_queues = text_of(parameters, "scheduler") != "fifo";
  if (label.starts_with("on")) return {announced_kind(parameters), true, two_queues};
  return {two_queues ? RemedyKind::kTwoQueues : RemedyKind::kMarking, false, two_queues};
}

bool is_possible(const RemedyNature& nature, const Cluster& cluster) {
  if (nature.kind == RemedyKind::kNothing) return true;
  const SwitchFreedom needed =
      nature.announced ? SwitchFreedom::kOutrider : SwitchFreedom::kSettings;
  return cluster.change.switches >= needed && (cluster.change.hosts || !nature.announced) &&
         (cluster.network.second_queue || !nature.two_queues);
}

std::string_view name_of(RemedyKind kind) noexcept {
  static constexpr std::array<std::string_view, 8> kNames{
      "nothing", "marking", "two queues", "mark", "pace", "window", "grant", "steer"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<Remedy> remedies_of(const Summary& summary, bool closed_loop) {
  const auto off = std::ranges::find(summary.arms, "off", &ArmSummary::label);
  if (off == summary.arms.end()) throw std::runtime_error("the results have no arm \"off\"");
  constexpr std::string_view kShort = "small_flow_completion_seconds_p99";
  const double short_today = off->metric(kShort).value.value;
  std::vector<Remedy> all;
  for (const ArmSummary& arm : summary.arms) {
    const ArmMetric time =
        arm.metric(closed_loop ? "iteration_seconds_median" : "communication_seconds_median");
    const ArmMetric alone =
        arm.metric(closed_loop ? "iteration_over_alone_median" : "communication_over_alone_median");
    all.push_back(
        {.label = arm.label,
         .nature = nature_of(arm.label, arm.parameters),
         .seeds = arm.cases.size(),
         .time_seconds = time.value,
         .tail_seconds =
             arm.metric(closed_loop ? "iteration_seconds_p99" : "communication_seconds_p99").value,
         .change = time.change,
         .over_alone = alone.value.value,
         .lost = arm.metric("background_bytes_lost_per_burst_byte").value,
         .short_flows = arm.metric(kShort).value.value / short_today});
  }
  return all;
}

}  // namespace outrider::lab
