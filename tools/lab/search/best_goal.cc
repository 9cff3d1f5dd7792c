#include "tools/lab/search/best_goal.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/telemetry/csv_text.h"
#include "tools/lab/summary/json_values.h"
#include "tools/lab/summary/metric.h"
#include "tools/lab/summary/table_text.h"

namespace outrider::lab {

namespace {

using Json = nlohmann::ordered_json;  // keeps the order in which keys are added

const char* name_of(SearchPhase phase) {
  return phase == SearchPhase::kScreening ? "screening" : "verifying";
}

Json json_of(const BestArm& arm) {
  return {{"label", arm.label},
          {"family", arm.family},
          {"seeds", arm.seeds},
          {"objective", json_of(arm.objective)},
          {"communication_p99_over_alone", arm.p99},
          {"background_bytes_lost_per_burst_byte", json_of(arm.lost)},
          {"small_flow_completion_seconds_p99", arm.short_p99}};
}

Json json_of(const BestArms& arms) {
  Json all = Json::array();
  for (const BestArm& arm : arms) all.push_back(json_of(arm));
  return all;
}

void write_lines(std::ostream& out, const char* phase, const BestArms& arms) {
  for (const BestArm& arm : arms) {
    out << phase << ',' << csv_text(arm.family) << ',' << csv_text(arm.label) << ',' << arm.seeds;
    for (const double v : {arm.objective.value, arm.objective.low, arm.objective.high, arm.p99,
                           arm.lost.value, arm.lost.low, arm.lost.high, arm.short_p99})
      out << ',' << (std::isnan(v) ? std::string() : text_of(v));
    out << '\n';
  }
}

}  // namespace

BestGoal::BestGoal(const SearchFile& file)
    : settings_(file.settings),
      experiment_{.name = file.experiment.name, .question = file.experiment.question} {
  (void)metric_named(settings_.objective);  // throws if there is none
  known_.push_back({.label = settings_.baseline});
  std::vector<std::string> labels;
  for (const SearchFamily& family : settings_.families)
    for (const std::string& label : family.arms)
      known_.push_back({.label = label, .family = family.label});
  for (const Arm& arm : file.experiment.arms)  // an arm of no family is one by itself
    if (std::ranges::find(known_, arm.label, &BestArm::label) == known_.end())
      known_.push_back({.label = arm.label, .family = arm.label});
  for (BestPoint* point : {&screened_, &verified_}) {
    point->name = experiment_.name;
    point->objective = settings_.objective;
    point->rule = settings_.rule;
  }
}

std::vector<std::string> BestGoal::arms() const {
  std::vector<std::string> labels;
  for (const BestArm& arm : known_) labels.push_back(arm.label);
  return labels;
}

BestArms BestGoal::arms_of(std::span<const RunDigest* const> runs) const {
  const Summary summary = summarise(experiment_, runs);
  BestArms arms = known_;
  for (BestArm& arm : arms) {
    const auto found = std::ranges::find(summary.arms, arm.label, &ArmSummary::label);
    if (found == summary.arms.end()) continue;
    arm.objective = found->metric(settings_.objective).value;
    arm.p99 = found->metric(kP99OfBest).value.value;
    arm.lost = found->metric(kLostOfBest).value;
    arm.short_p99 = found->metric(kShortOfBest).value.value;
    arm.seeds = found->cases.size();
  }
  return arms;
}

void BestGoal::take(const SearchRound& round, const SearchRuns& runs) {
  rounds_.push_back({round.phase, round.end, round.arms.size()});
  if (round.phase == SearchPhase::kScreening) {
    screened_.arms = arms_of(runs.screening);
    return;
  }
  verified_.arms = arms_of(runs.verifying);
  std::erase_if(verified_.arms, [](const BestArm& arm) { return arm.seeds == 0; });
}

SearchArms BestGoal::not_narrow(double narrow_enough) const {
  SearchArms wide;
  for (std::size_t i = 1; i < known_.size(); ++i) {
    const auto arm = std::ranges::find(verified_.arms, known_[i].label, &BestArm::label);
    if (arm != verified_.arms.end() && !is_narrow(arm->objective, narrow_enough)) wide.push_back(i);
  }
  return wide;
}

std::string BestGoal::text() const {
  std::string rounds;
  for (const Round& round : rounds_)
    rounds += (rounds.empty() ? "" : ", then ") + std::to_string(round.arms) + " with " +
              std::to_string(round.seeds) +
              (round.phase == SearchPhase::kScreening ? "" : " other") +
              (round.seeds == 1 ? " seed" : " seeds");
  return experiment_.name + (experiment_.question.empty() ? "" : ": " + experiment_.question) +
         "\n\n" +
         wrapped("Screened " + std::to_string(known_.size()) + " arms: " + rounds +
                 ". The figures are of the other seeds alone, which the screening did not see.") +
         "\n\n" + best_text({verified_});
}

std::string BestGoal::json() const {
  const BestChoice choice = choose(verified_.arms, verified_.rule);
  const auto label = [this](std::size_t arm) { return verified_.arms[arm].label; };
  Json json{{"schema_version", kSearchSchema},
            {"pick", "best"},
            {"experiment", experiment_.name},
            {"question", experiment_.question},
            {"objective", settings_.objective},
            {"cheap", settings_.rule.cheap},
            {"spared", settings_.rule.spared},
            {"narrow_enough", settings_.narrow_enough},
            {"rounds", Json::array()},
            {"choice",
             {{"quickest", label(choice.quickest)},
              {"cheap", label(choice.cheap)},
              {"as_quick_and_cheap", Json::array()},
              {"sparing", label(choice.sparing)}}},
            {"arms", json_of(verified_.arms)},
            {"screened", json_of(screened_.arms)}};
  for (const std::size_t arm : choice.as_good)
    json["choice"]["as_quick_and_cheap"].push_back(label(arm));
  for (const Round& round : rounds_)
    json["rounds"].push_back(
        {{"phase", name_of(round.phase)}, {"seeds", round.seeds}, {"arms", round.arms}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string BestGoal::csv() const {
  std::ostringstream out;
  out << "phase,family,arm,seeds," << settings_.objective
      << ",objective_low,objective_high,communication_p99_over_alone,"
         "background_bytes_lost_per_burst_byte,lost_low,lost_high,"
         "small_flow_completion_seconds_p99\n";
  write_lines(out, "screening", screened_.arms);
  write_lines(out, "verifying", verified_.arms);
  return out.str();
}

}  // namespace outrider::lab
