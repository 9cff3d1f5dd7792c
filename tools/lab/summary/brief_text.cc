#include "tools/lab/summary/brief_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <vector>

#include "common/telemetry/display_width.h"
#include "tools/lab/summary/result_answer.h"
#include "tools/lab/summary/table_text.h"

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
std::string brief_rows(const ReportArm& arm) {
  constexpr double kMilli = 1e3;
  const ReportJson& metrics = arm.json->at("metrics");
  const ReportJson against_off = arm.json->value("against_off", ReportJson::object());
  const auto figure = [&](const char* name, const char* part) {
    const bool other = !arm.against.empty() && against_off.contains(name);
    return estimate_in_result(other ? against_off : metrics, name, part);
  };
  constexpr const char* kTime = "communication_seconds_median";
  constexpr const char* kLost = "background_lost_fraction";
  std::string text = brief_line(
      arm.name, {shown(estimate_in_result(metrics, "start_queue_packets_mean", "value").value),
                 shown(estimate_in_result(metrics, kTime, "value").value * kMilli),
                 arm.off ? "-" : with_interval(figure(kTime, "change")),
                 arm.off ? "-" : with_interval(figure(kLost, "value"))});
  if (!arm.against.empty())
    text += brief_line("  against " + arm.against,
                       {"", "", with_interval(estimate_in_result(metrics, kTime, "change")),
                        with_interval(estimate_in_result(metrics, kLost, "value"))});
  return text;
}

}  // namespace

std::string brief_text(const ReportJson& summary) {
  const auto arms = report_arms(summary);
  const auto names = point_names(arms);
  const std::string question = summary.value("question", "");
  std::string text =
      wrapped(question.empty() ? summary.at("experiment").get<std::string>() : question) + "\n\n";
  for (std::size_t point = 0; point < names.size(); ++point) {
    if (names.size() > 1)
      text += wrapped("Point " + std::to_string(point + 1) + ", " + names[point]) + '\n';
    text += brief_line("", {"start queue", "communication", "against " + off_of_point(arms, point),
                            "background lost"}) +
            brief_line("", {"packets", "ms", "", ""});
    for (const auto& arm : arms)
      if (arm.point == point) text += brief_rows(arm);
    text += '\n';
  }
  return text + answer_text(summary);
}

}  // namespace outrider::lab
