#include "tools/lab/tables/brief_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <vector>

#include "common/telemetry/display_width.h"
#include "tools/lab/summary/table_text.h"
#include "tools/lab/tables/results_answer.h"

namespace outrider::lab {
namespace {

std::string brief_line(const std::string& label, const std::array<std::string, 4>& cells) {
  constexpr std::size_t kLabel = 24;
  std::string line = padded_to(label, kLabel);
  if (display_width(label) > kLabel) line += '\n' + std::string(kLabel, ' ');
  std::array<char, kTableColumns + 1> text{};
  std::snprintf(text.data(), text.size(), " %14s %14s %22s %22s", cells[0].c_str(),
                cells[1].c_str(), cells[2].c_str(), cells[3].c_str());
  line += text.data();
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string with_interval(const Estimate& change) {
  const std::string interval = shown_interval(change);
  return shown_change(change.value) + (interval.empty() ? "" : ' ' + interval);
}

/// Returns the row of an arm, and another one where its baseline is not off.
std::string brief_rows(const ArmSummary& arm) {
  constexpr double kMilli = 1e3;
  constexpr const char* kTime = "communication_seconds_median";
  constexpr const char* kLost = "background_lost_fraction";
  std::string text =
      brief_line(arm.name, {shown(arm.metric("start_queue_packets_mean").value.value),
                            shown(arm.metric(kTime).value.value * kMilli),
                            arm.off ? "-" : with_interval(arm.metric_against_off(kTime).change),
                            arm.off ? "-" : with_interval(arm.metric_against_off(kLost).value)});
  if (!arm.against.empty())
    text += brief_line("  against " + arm.against, {"", "", with_interval(arm.metric(kTime).change),
                                                    with_interval(arm.metric(kLost).value)});
  return text;
}

/// Does the same for an arm without a job.
std::string brief_row_of_flows(const ArmSummary& arm) {
  constexpr double kMega = 1e-6;
  constexpr const char* kGoodput = "background_goodput_bits_per_second";
  constexpr const char* kSmall = "small_flow_slowdown_p99";
  constexpr const char* kLarge = "large_flow_slowdown_p99";
  const auto slowdown = [&arm](const char* name) {
    const ArmMetric m = arm.metric(name);
    return shown(m.value.value) + (arm.off ? "" : ", " + shown_change(m.change.value));
  };
  return brief_line(arm.name, {shown(arm.metric(kGoodput).value.value * kMega),
                               shown(arm.metric("flows_unfinished").value.value), slowdown(kSmall),
                               slowdown(kLarge)});
}

}  // namespace

std::string brief_text(const Results& results) {
  const auto& arms = results.arms;
  const auto names = point_names(arms);
  std::string text =
      wrapped(results.question.empty() ? results.experiment : results.question) + "\n\n";
  for (std::size_t point = 0; point < names.size(); ++point) {
    if (names.size() > 1)
      text += wrapped("Point " + std::to_string(point + 1) + ", " + names[point]) + '\n';
    if (!has_job(arms)) {
      text += brief_line("", {"goodput", "flows", "slowdown, p99", "slowdown, p99"}) +
              brief_line("", {"Mbit/s", "not done", "<= 100 kB", "> 1 MB"});
      for (const auto& arm : arms)
        if (arm.point == point) text += brief_row_of_flows(arm);
      text += '\n';
      continue;
    }
    text += brief_line("", {"start queue", "communication", "against " + off_of_point(arms, point),
                            "background lost"}) +
            brief_line("", {"packets", "ms", "", ""});
    for (const auto& arm : arms)
      if (arm.point == point) text += brief_rows(arm);
    text += '\n';
  }
  return text + answer_text(results);
}

}  // namespace outrider::lab
