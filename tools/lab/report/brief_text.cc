#include "tools/lab/report/brief_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <vector>

#include "tools/lab/report/report_answer.h"
#include "tools/lab/summary/table_text.h"

namespace outrider::lab {
namespace {

constexpr double kMilli = 1e3;

std::string line(const std::string& label, const std::array<std::string, 4>& cells) {
  std::array<char, kTableColumns + 1> text{};
  std::snprintf(text.data(), text.size(), "%-24s %14s %14s %22s %22s", label.c_str(),
                cells[0].c_str(), cells[1].c_str(), cells[2].c_str(), cells[3].c_str());
  std::string line = text.data();
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string with_interval(const std::string& value, const Estimate& estimate) {
  const std::string interval = shown_interval(estimate);
  return interval.empty() ? value : value + ' ' + interval;
}

std::string row(const ArmSummary& arm) {
  const ArmMetric communication = arm.metric("communication_seconds_median");
  const Estimate lost = arm.metric("background_lost_fraction").value;
  const auto& change = communication.change;
  return line(arm.label, {lab::shown(arm.metric("start_queue_packets_mean").value.value),
                          lab::shown(communication.value.value * kMilli),
                          arm.off ? "-" : with_interval(shown_change(change.value), change),
                          arm.off ? "-" : with_interval(shown_change(lost.value), lost)});
}

/// If an arm without regulation is best, adds a sentence about the best regulated arm.
void add_regulated(std::vector<AnswerArm> arms, std::size_t seeds,
                   std::vector<AnswerSentence>& sentences) {
  std::erase_if(arms, [](const AnswerArm& arm) { return !arm.name.starts_with("on"); });
  if (arms.empty() || sentences.empty() || sentences.front().kind != "gain") return;
  const auto regulated = answer_of(arms, seeds).front();
  if (regulated.kind == "gain" && regulated != sentences.front())
    sentences.insert(sentences.begin() + 1, {"gain", "With regulation: " + regulated.text});
}

std::string point_text(const std::vector<const ArmSummary*>& arms) {
  std::string text = line("", {"start queue", "communication", "against off", "background lost"}) +
                     line("", {"packets", "ms", "", ""});
  std::vector<AnswerArm> compared;
  std::size_t seeds = arms.front()->cases.size();
  for (const ArmSummary* arm : arms) {
    text += row(*arm);
    seeds = std::min(seeds, arm->cases.size());
    if (!arm->off)
      compared.push_back({arm->label, arm->metric("communication_seconds_median").change,
                          arm->metric("background_lost_fraction").value});
  }
  text += '\n';
  auto sentences = answer_of(compared, seeds);
  add_regulated(compared, seeds, sentences);
  for (const auto& sentence : sentences) text += wrapped(sentence.text) + '\n';
  return text;
}

}  // namespace

std::string brief_text(const Summary& summary) {
  std::string text = wrapped(summary.question.empty() ? summary.experiment : summary.question);
  std::size_t points = 0;
  for (const auto& arm : summary.arms) points = std::max(points, arm.point + 1);
  for (std::size_t point = 0; point < points; ++point) {
    std::vector<const ArmSummary*> arms;
    for (const auto& arm : summary.arms)
      if (arm.point == point) arms.push_back(&arm);
    if (arms.empty()) continue;
    text += "\n\n";
    if (points > 1) text += "Point " + std::to_string(point + 1) + ", as in table.txt\n";
    text += point_text(arms);
  }
  return text;
}

}  // namespace outrider::lab
