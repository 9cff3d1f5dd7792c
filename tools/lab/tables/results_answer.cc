#include "tools/lab/tables/results_answer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tools/lab/summary/summary.h"
#include "tools/lab/summary/table_text.h"
#include "tools/lab/tables/comparison_table.h"

namespace outrider::lab {

namespace {

AnswerArm answer_arm(const ArmSummary& arm) {
  constexpr const char* kTime = "communication_seconds_median";
  constexpr const char* kLost = "background_lost_fraction";
  constexpr const char* kShort = "small_flow_completion_seconds_p99";
  AnswerArm out{.name = arm.name,
                .remedy = arm.role == ArmRole::kRemedy,
                .change = arm.metric(kTime).change,
                .lost = arm.metric(kLost).value,
                .against = arm.against,
                .short_flows = arm.metric(kShort).change,
                .beside = arm.beside};
  if (arm.against.empty()) return out;
  out.against_off = arm.metric_against_off(kTime).change;
  out.lost_against_off = arm.metric_against_off(kLost).value;
  out.short_flows_against_off = arm.metric_against_off(kShort).change;
  out.beside_off = arm.beside_off;
  return out;
}

/// Says for each arm without a job what changes for flows, by their size.
std::vector<AnswerSentence> answer_of_flows(const std::vector<const ArmSummary*>& arms,
                                            const std::string& off) {
  constexpr std::pair<const char*, const char*> kTold[]{
      {"small_flow_completion_seconds_p99", "the p99 completion of flows up to 100 kB "},
      {"medium_flow_completion_seconds_p99", "that of flows up to 1 MB "},
      {"large_flow_completion_seconds_p99", "that of longer flows "},
      {"background_goodput_bits_per_second", "goodput "}};
  std::vector<AnswerSentence> sentences;
  for (const ArmSummary* arm : arms) {
    std::string text;
    for (const auto& [metric, name] : kTold)
      if (const Estimate change = arm->metric(metric).change; is_change(change))
        text += (text.empty() ? "" : "; ") + std::string(name) + change_in_words(change);
    const std::string& than = arm->against.empty() ? off : arm->against;
    if (text.empty())
      sentences.push_back({"same", arm->name + ": not distinguishable from " + than + "."});
    else sentences.push_back({"gain", arm->name + " against " + than + ": " + text + "."});
  }
  if (arms.empty()) sentences.push_back({"same", "One arm alone: there is nothing to compare."});
  return sentences;
}

void add_warnings(const Results& results, ResultAnswer& answer) {
  if (results.quick)
    answer.warnings.emplace_back(
        "quick: two measured iterations at the first point. It runs; the figures mean nothing");
  if (results.interrupted)
    answer.warnings.push_back("incomplete: " + std::to_string(results.finished_cases) + " of " +
                              std::to_string(results.planned_cases) + " cases have results");
  if (results.version != kResultsVersion)
    answer.warnings.push_back("made at version " + std::to_string(results.version) +
                              " of the results; those of this program are of version " +
                              std::to_string(kResultsVersion));
  std::ranges::copy(results.advice, std::back_inserter(answer.warnings));
  for (const ArmWarning& w : results.warnings) {
    std::string text = w.label;
    if (answer.points.size() > 1 && w.point < answer.points.size())
      text += " at " + answer.points[w.point].name;
    answer.warnings.push_back(text + ": " + std::to_string(w.count) + " " + w.text);
  }
}

std::string lines_of(const std::vector<AnswerSentence>& sentences) {
  std::string text;
  for (const auto& s : sentences) text += wrapped(s.text) + '\n';
  return text;
}

}  // namespace

ResultAnswer answer_of_results(const Results& results) {
  const auto& arms = results.arms;
  ResultAnswer answer;
  answer.question = results.question;
  const bool jobs = has_job(arms);
  const auto names = point_names(arms);
  std::vector<PointAnswer> compared;
  for (std::size_t p = 0; p < names.size(); ++p) {
    PointAnswer& here = compared.emplace_back(
        PointAnswer{.point = names[p], .arms = {}, .off = off_of_point(arms, p)});
    std::size_t seeds = std::size_t{1} << 20;
    std::vector<const ArmSummary*> others;
    for (const auto& arm : arms) {
      if (arm.point != p) continue;
      seeds = std::min(seeds, arm.cases.size());
      if (!arm.off) here.arms.push_back(answer_arm(arm));
      if (!arm.off) others.push_back(&arm);
    }
    answer.points.push_back({names[p], jobs ? answer_of(here.arms, here.off, seeds)
                                            : answer_of_flows(others, here.off)});
  }
  if (names.size() > 1 && jobs) answer.sweep = answer_over(compared);
  add_warnings(results, answer);
  return answer;
}

std::string answer_text(const Results& results) {
  const ResultAnswer answer = answer_of_results(results);
  std::string text = lines_of(answer.sweep);
  for (std::size_t p = 0; p < answer.points.size(); ++p) {
    if (answer.points.size() > 1)
      text += (text.empty() ? "" : "\n") +
              wrapped("Point " + std::to_string(p + 1) + ", " + answer.points[p].name + ":") + '\n';
    text += lines_of(answer.points[p].sentences);
  }
  for (const auto& warning : answer.warnings) text += wrapped("! " + warning) + '\n';
  return text;
}

std::string result_text(const Summary& summary) {
  return comparison_table(summary) + "\n" + answer_text(summary);
}

}  // namespace outrider::lab
