// Goal: Prometheus, telemetry and the live view show the figures of the rows. Method: a report
// whose numbers all differ, and hand-written names where these differ from the field's name.
#include "switch/report/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "switch/control/live.h"
#include "switch/control/metrics.h"
#include "switch/control/telemetry.h"
#include "switch/report/report_fields.h"
#include "switch/report/report_json.h"
#include "tests/support/filled.h"

namespace outrider::figures_test {
using namespace sw;
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

SwitchReport filled_report() {
  SwitchReport r;
  Filler().value("report", r);
  r.queues.resize(1);
  r.queues[0].switch_name = "s";
  r.queues[0].port_name = "p";
  r.queues[0].queue = 0;
  return r;
}

std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.insert(line);
  return lines;
}

TEST(Figures, PrometheusKeepsTheNamesThatAreNotTheFields) {
  const SwitchReport r = filled_report();
  const QueueReport& q = r.queues[0];
  const std::string at = R"({switch="s",port="p",queue="0")";
  const auto value = [](std::uint64_t n) { return " " + std::to_string(n); };
  const auto lines = lines_of(to_prometheus(metrics_of(r, {})));
  const auto has = [&](const std::string& line) { EXPECT_THAT(lines, Contains(line)); };
  has("outrider_switch_received_packets_total" + value(r.received));
  has("outrider_switch_copied_packets_total" + value(r.copied));
  has("outrider_switch_transmitted_packets_total" + value(r.transmitted));
  has("outrider_switch_resident_packets" + value(r.resident));
  has("outrider_switch_on_links_packets" + value(r.on_links));
  has("outrider_switch_device_rx_missed_packets_total" + value(r.device_rx_missed.value()));
  has("outrider_switch_device_rx_nombuf_packets_total" + value(r.device_rx_nombuf.value()));
  has("outrider_switch_signals_bad_udp_total{reason=\"due_too_far\"}" +
      value(r.signals_bad_udp[udp_signal::Fault::kDueTooFar]));
  has("outrider_switch_drops_total{class=\"ddl\",reason=\"no_route\"}" +
      value(r.drops[TrafficClass::kDdl][DropReason::kNoRoute]));
  has("outrider_switch_ledger_balanced 1");
  const auto of_ddl = [&](const PerClass<std::uint64_t>& v) {
    return value(v[TrafficClass::kDdl]);
  };
  has("outrider_queue_arrived_packets_total" + at + ",class=\"ddl\"}" + of_ddl(q.arrived));
  has("outrider_queue_packets_total" + at + ",class=\"ddl\"}" + of_ddl(q.transmitted));
  has("outrider_queue_bytes_total" + at + ",class=\"ddl\"}" + of_ddl(q.transmitted_bytes));
  has("outrider_queue_resident_packets" + at + ",class=\"ddl\"}" + of_ddl(q.resident));
  has("outrider_queue_marks_total" + at + ",class=\"ddl\",reason=\"marker\"}" +
      value(q.marks[TrafficClass::kDdl][MarkReason::kMarker]));
  has("outrider_queue_entries" + at + "}" + value(q.entries_left));
  has("outrider_queue_pace_held_total" + at + "}" + value(q.pace.held));
  has("outrider_queue_pace_max_held" + at + "}" + value(q.pace.max_held));
  has("outrider_queue_window_answers_total" + at + ",reason=\"held\"}" +
      value(q.window.answers[WindowReason::kHeld]));
  has("# TYPE outrider_queue_packets_total counter");
  has("# HELP outrider_queue_packets_total Packets transmitted");
  has("# TYPE outrider_queue_pace_max_held gauge");
}

TEST(Figures, PrometheusHasTheStateOfLcoresLinksAndPools) {
  const auto lines = lines_of(to_prometheus(metrics_of(
      {}, {.lcores = {{.cpu = 2, .busy_ns = 70}, {.cpu = 5, .busy_ns = 80}},
           .links = {{.switch_name = "s", .port_name = "p", .device_name = "nic", .up = true},
                     {.switch_name = "s", .port_name = "q", .device_name = "other", .up = false}},
           .pools = {{.name = "packets", .buffers = 4096, .free_buffers = 17}}})));
  for (const char* line :
       {"outrider_lcore_busy_ns_total{lcore=\"2\"} 70",
        "outrider_lcore_busy_ns_total{lcore=\"5\"} 80",
        "outrider_port_link_up{switch=\"s\",port=\"p\",device=\"nic\"} 1",
        "outrider_port_link_up{switch=\"s\",port=\"q\",device=\"other\"} 0",
        "outrider_pool_buffers{pool=\"packets\"} 4096",
        "outrider_pool_free_buffers{pool=\"packets\"} 17",
        "# TYPE outrider_lcore_busy_ns_total counter", "# TYPE outrider_port_link_up gauge"})
    EXPECT_THAT(lines, Contains(line));
}

// Each row of a report becomes one series of its own.
TEST(Figures, EachHasASeriesOfItsOwn) {
  const SwitchReport r = filled_report();
  std::set<std::string> samples;
  for (const auto& line : lines_of(to_prometheus(metrics_of(r, {}))))
    if (!line.starts_with('#')) samples.insert(line.substr(0, line.rfind(' ')));
  EXPECT_EQ(samples.size(), figures_of(r).size() + figures_of(r.queues[0]).size());
  for (const auto& v : figures_of(r.queues[0]))
    EXPECT_NE(v.value, 0U) << v.figure.field << " is not the record's";
}

// A unit in a name is that of the row.
TEST(Figures, NamesAndUnitsAgree) {
  const SwitchReport r = filled_report();
  auto all = figures_of(r);
  for (const auto& v : figures_of(r.queues[0])) all.push_back(v);
  for (const auto& v : all)
    for (const auto& [ending, unit] :
         {std::pair{"_ns", "ns"}, {"_bytes", "bytes"}, {"_packets", "packets"}}) {
      const std::string name = v.figure.exported != nullptr ? v.figure.exported : v.figure.field;
      if (name.ends_with(ending)) {
        EXPECT_STREQ(v.figure.unit, unit) << name;
      }
    }
}

TEST(Figures, OutlineOfAPortIsWhatTheRowsSay) {
  const TelemetryValue answer = telemetry_of_port(filled_report(), "s.p");
  const auto& ports = std::get<TelemetryValue::Table>(answer.data);
  const auto& outline = std::get<TelemetryValue::Table>(ports.at(0).value.data);
  std::set<std::string> names;
  for (const auto& member : outline) names.insert(member.name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("resident", "resident_bytes", "held_packets",
                                                   "arrived", "transmitted", "transmitted_bytes",
                                                   "marks", "drops", "background_threshold_packets",
                                                   "entries_left", "starts_armed", "held_answers",
                                                   "announced_bursts", "granted_bytes"));
  const QueueReport q = filled_report().queues[0];
  for (const auto& member : outline)
    if (member.name == "drops") {
      EXPECT_EQ(std::get<std::uint64_t>(member.value.data), sum(q.drops)) << "all together";
    }
}

TEST(Figures, AnOutlineLeavesOutWhatAPortDoesNotHave) {
  SwitchReport r = filled_report();
  r.queues[0].held_answers = r.queues[0].announced_bursts = r.queues[0].granted_bytes = 0;
  const TelemetryValue answer = telemetry_of_port(r, "s.p");
  const auto& ports = std::get<TelemetryValue::Table>(answer.data);
  for (const auto& member : std::get<TelemetryValue::Table>(ports.at(0).value.data))
    EXPECT_THAT(member.name,
                testing::Not(testing::AnyOf("held_answers", "announced_bursts", "granted_bytes")));
}

TEST(Figures, LiveViewShowsCountsOnceTheyAreNotZero) {
  SwitchReport r;
  r.end_ns = 1'000'000'000;
  r.queues.resize(2);
  const auto shown = [&] { return live_lines({}, {r}); };
  EXPECT_THAT(shown(), Not(HasSubstr("dropped")));
  for (auto& q : r.queues) {
    q.arrived[TrafficClass::kDdl] = 9;
    q.marks[TrafficClass::kDdl][MarkReason::kMarker] = 2;
    q.marks[TrafficClass::kBackground][MarkReason::kMarker] = 1;
    q.drops[TrafficClass::kDdl][DropReason::kTailBytes] = 4;
  }
  r.drops[TrafficClass::kDdl][DropReason::kTailBytes] = 8;
  r.device_rx_missed = 5;
  r.device_rx_nombuf = 6;
  EXPECT_THAT(shown(), HasSubstr("regulations 0  marked marker 6  dropped tail_bytes 8  lost "
                                 "before 11\n"))
      << "of the process: all queues together, and what it counts itself once";
  EXPECT_THAT(shown(), HasSubstr("marked marker 3  dropped tail_bytes 4\n")) << "of a queue";
}

TEST(Figures, WhatNothingCountsHasNoValue) {
  SwitchReport r;
  EXPECT_THAT(to_prometheus(metrics_of(r, {})),
              HasSubstr("outrider_switch_device_rx_missed_packets_total 0"));
  EXPECT_THAT(live_lines({}, {r}), Not(HasSubstr("not counted")));
  r.device_rx_missed.reset();
  r.devices_not_counting = {"west", "east"};
  EXPECT_THAT(to_prometheus(metrics_of(r, {})), Not(HasSubstr("device_rx_missed")));
  EXPECT_THAT(to_prometheus(metrics_of(r, {})),
              HasSubstr("outrider_switch_device_rx_nombuf_packets_total 0"));
  EXPECT_THAT(live_lines({}, {r}), HasSubstr("lost before, at west, east not counted"));
  EXPECT_THAT(to_json(r), HasSubstr("\"device_rx_missed\":null"));
  EXPECT_EQ(device_losses_text(r),
            "receive missed not counted, no buffer 0, damaged 0; not all is "
            "counted at west, east");
}

}  // namespace
}  // namespace outrider::figures_test
