#include "tools/lab/tables/table_flows.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace outrider::lab {

namespace {

constexpr std::array<MetricCell, 6> kFlowTimeCells{{{"small_flow_completion_seconds_median"},
                                                    {"small_flow_completion_seconds_p99"},
                                                    {"medium_flow_completion_seconds_median"},
                                                    {"medium_flow_completion_seconds_p99"},
                                                    {"large_flow_completion_seconds_median"},
                                                    {"large_flow_completion_seconds_p99"}}};

constexpr std::array<MetricCell, 7> kFlowSlowdownCells{{{"small_flow_slowdown_median"},
                                                        {"small_flow_slowdown_p99"},
                                                        {"medium_flow_slowdown_median"},
                                                        {"medium_flow_slowdown_p99"},
                                                        {"large_flow_slowdown_median"},
                                                        {"large_flow_slowdown_p99"},
                                                        {"flows_unfinished"}}};

constexpr std::array<MetricCell, 7> kAloneCells{{{"background_goodput_bits_per_second"},
                                                 {"background_fairness"},
                                                 {"path_mmr"},
                                                 {"small_flows_completed"},
                                                 {"medium_flows_completed"},
                                                 {"large_flows_completed"},
                                                 {"flows_unfinished"}}};

constexpr std::array<MetricCell, 8> kAloneChangeCells{
    {{"background_goodput_bits_per_second", MetricCell::kChange},
     {"background_goodput_bits_per_second", MetricCell::kInterval},
     {"small_flow_completion_seconds_p99", MetricCell::kChange},
     {"small_flow_completion_seconds_p99", MetricCell::kInterval},
     {"medium_flow_completion_seconds_p99", MetricCell::kChange},
     {"medium_flow_completion_seconds_p99", MetricCell::kInterval},
     {"large_flow_completion_seconds_p99", MetricCell::kChange},
     {"large_flow_completion_seconds_p99", MetricCell::kInterval}}};

bool have_flows(const ArmSummary* arm) {
  return !std::isnan(arm->metric("flows_unfinished").value.value);
}

}  // namespace

std::string flow_block(const Arms& point) {
  if (!std::ranges::any_of(point, have_flows)) return "";
  return "Completion of background's flows, by size:\n" + arms_rows(point, kFlowTimeCells) +
         "Their slowdown, completion over ideal:\n" + arms_rows(point, kFlowSlowdownCells);
}

std::string flows_alone_block(const Arms& point) {
  std::string text = arms_rows(point, kAloneCells), rows;
  for (const ArmSummary* arm : point)
    if (!arm->off) rows += arm_rows(*arm, point, kAloneChangeCells);
  if (rows.empty()) return text;
  return text + "Change against " + off_label(point) + ", with 95 % confidence:\n" +
         cell_headings(kAloneChangeCells) + rows;
}

}  // namespace outrider::lab
