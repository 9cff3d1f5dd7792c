#include "tools/lab/summary/result_answer.h"

#include <algorithm>
#include <stdexcept>

#include "tools/lab/summary/results_version.h"
#include "tools/lab/summary/summary.h"
#include "tools/lab/summary/table_text.h"

namespace outrider::lab {

namespace {

double number_or_none(const ReportJson& value) {
  return value.is_number() ? value.get<double>() : kNotDefined;
}

AnswerArm answer_arm(const ReportArm& arm) {
  constexpr const char* kTime = "communication_seconds_median";
  constexpr const char* kShort = "small_flow_completion_seconds_p99";
  const ReportJson& metrics = arm.json->at("metrics");
  AnswerArm out{.name = arm.name,
                .remedy = arm.json->value("role", "") == name_of(ArmRole::kRemedy),
                .change = estimate_in_result(metrics, kTime, "change"),
                .lost = estimate_in_result(metrics, "background_lost_fraction", "value"),
                .short_flows = estimate_in_result(metrics, kShort, "change")};
  // Results of an earlier version have no baselines but off.
  out.beside = arm.json->value("beside", std::vector<std::string>{});
  if (arm.against.empty()) return out;
  out.against = arm.against;
  const ReportJson against_off = arm.json->value("against_off", ReportJson::object());
  const auto other = [&](const char* metric, const char* part) {
    return estimate_in_result(against_off.contains(metric) ? against_off : metrics, metric, part);
  };
  out.against_off = other(kTime, "change");
  out.lost_against_off = other("background_lost_fraction", "value");
  out.short_flows_against_off = other(kShort, "change");
  out.beside_off = arm.json->value("beside_off", std::vector<std::string>{});
  return out;
}

/// Says whether results say in what an arm differs beside its remedy from what it is compared with.
bool tells_differences(const ReportArm& arm) {
  return arm.off || (arm.json->contains("beside") &&
                     (arm.against.empty() || arm.json->contains("beside_off")));
}

void add_warnings(const ReportJson& summary, const std::vector<ReportArm>& arms,
                  ResultAnswer& answer) {
  if (summary.value("quick", false))
    answer.warnings.emplace_back(
        "quick: two iterations at the first point. It runs; the figures mean nothing");
  if (summary.at("interrupted").get<bool>())
    answer.warnings.push_back("incomplete: " + std::to_string(summary.at("cases").size()) + " of " +
                              std::to_string(summary.at("planned_cases").get<std::size_t>()) +
                              " cases have results");
  if (const int version = summary.value("results_version", 1); version != kResultsVersion)
    answer.warnings.push_back("made at version " + std::to_string(version) +
                              " of the results; those of this program are of version " +
                              std::to_string(kResultsVersion));
  if (!std::ranges::all_of(arms, tells_differences))
    answer.warnings.emplace_back(
        "an earlier program wrote these results, which do not say in what else than the remedy "
        "arms "
        "differ from what they are compared with: transports or queues may be the cause of a "
        "change; "
        "run the file again");
  for (const auto& text : summary.value("advice", std::vector<std::string>{}))
    answer.warnings.push_back(text);
  const ReportJson warnings = summary.value("warnings", ReportJson::array());
  const bool several = answer.points.size() > 1;
  for (const auto& w : warnings) {
    const auto point = w.at("point").get<std::size_t>();
    std::string text = w.at("label").get<std::string>();
    if (several && point < answer.points.size()) text += " at " + answer.points[point].name;
    answer.warnings.push_back(text + ": " + std::to_string(w.at("count").get<std::uint64_t>()) +
                              " " + w.at("text").get<std::string>());
  }
}

std::string lines_of(const std::vector<AnswerSentence>& sentences) {
  std::string text;
  for (const auto& s : sentences) text += wrapped(s.text) + '\n';
  return text;
}

}  // namespace

Estimate estimate_in_result(const ReportJson& metrics, const char* metric, const char* part) {
  if (!metrics.contains(metric)) return {};
  const ReportJson& e = metrics.at(metric).at(part);
  return {.value = number_or_none(e.at("value")),
          .low = number_or_none(e.at("low")),
          .high = number_or_none(e.at("high"))};
}

ResultAnswer answer_of_result(const ReportJson& summary) {
  const auto arms = report_arms(summary);
  ResultAnswer answer;
  answer.question = summary.value("question", "");
  const auto names = point_names(arms);
  std::vector<PointAnswer> compared;
  for (std::size_t p = 0; p < names.size(); ++p) {
    PointAnswer& here = compared.emplace_back(
        PointAnswer{.point = names[p], .arms = {}, .off = off_of_point(arms, p)});
    std::size_t seeds = std::size_t{1} << 20;
    for (const auto& arm : arms) {
      if (arm.point != p) continue;
      seeds = std::min(seeds, arm.cases.size());
      if (!arm.off) here.arms.push_back(answer_arm(arm));
    }
    answer.points.push_back({names[p], answer_of(here.arms, here.off, seeds)});
  }
  if (names.size() > 1) answer.sweep = answer_over(compared);
  add_warnings(summary, arms, answer);
  return answer;
}

std::string answer_text(const ReportJson& summary) {
  const ResultAnswer answer = answer_of_result(summary);
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
  return comparison_table(summary) + "\n" + answer_text(result_of(summary));
}

ReportJson result_from_text(const std::string& text) {
  try {
    ReportJson summary = ReportJson::parse(text);
    if (const ReportJson& version = summary.at("schema_version"); version != kSummarySchemaVersion)
      throw std::runtime_error("has schema_version " + version.dump() + ", not " +
                               std::to_string(kSummarySchemaVersion) +
                               ": use the version that wrote it");
    return summary;
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(why_no_result(text, error));
  }
}

}  // namespace outrider::lab
