// Goal: Prometheus and telemetry show every count of a generator's report, under its name. Method:
// records whose numbers all differ, and hand-written names where these are not the field's.
#include "trafficgen/apps/generator_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "tests/support/filled.h"
#include "trafficgen/report/generator_fields.h"

namespace outrider::generator_metrics_test {
using namespace tg;
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using Stream = StreamSteering::Stream;

template <class Counts>
Counts filled() {
  Counts counts;
  Filler().value("counts", counts);
  return counts;
}

GeneratorLive filled_live() {
  return {.counts = filled<TrafficLive>(),
          .run = filled<RunFigures>(),
          .devices = {{.name = "nic", .sent_l1_bytes = 71, .link_up = true}}};
}

/// One host "h", job "j" and so on.
RunParts filled_parts() {
  RunParts parts;
  RunParts::for_each_kind(parts, [](const char* kind, auto& cells) {
    cells.resize(1);
    cells.name(0, std::string("the ") + kind);
  });
  parts.hosts.publish(0, filled<HostCounters>());
  parts.jobs.publish(0, filled<JobLive>());
  parts.flows.publish(0, filled<FlowCounts>());
  parts.flow_groups.publish(0, filled<FlowGroupCounts>());
  parts.requests.publish(0, filled<RequestCounts>());
  parts.captures.publish(0, filled<CaptureCounts>());
  return parts;
}

Stream filled_stream(const std::string& name, bool sends, bool receives) {
  return {
      .name = name,
      .sends = sends,
      .receives = receives,
      .counts = {.sent = filled<StreamSentCounts>(), .received = filled<StreamReceivedCounts>()}};
}

std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.insert(line);
  return lines;
}

TEST(GeneratorMetrics, HaveTheNamesOfTheFields) {
  const GeneratorLive live = filled_live();
  const TrafficLive& c = live.counts;
  const auto lines = lines_of(
      to_prometheus(metrics_of(live, {filled_stream("probe", true, true)}, filled_parts())));
  const auto has = [&](const std::string& series, std::uint64_t value) {
    EXPECT_THAT(lines, Contains(series + ' ' + std::to_string(value)));
  };
  has("outrider_generator_sent_packets_total", c.sent);
  has("outrider_generator_sent_bytes_total", c.sent_bytes);
  has("outrider_generator_drops_total{reason=\"malformed\"}", c.drops[DropReason::kMalformed]);
  has("outrider_generator_delivered_bytes_total{class=\"ddl\"}",
      c.delivered_bytes[TrafficClass::kDdl]);
  has("outrider_generator_tcp_events_retransmitted_total", c.tcp_events.retransmitted);
  has("outrider_generator_starts_lost_total", c.starts.lost);
  has("outrider_generator_flows_open", c.flows_open);
  has("outrider_generator_device_rx_missed_packets_total", *live.run.device_rx_missed);
  has("outrider_device_sent_l1_bytes_total{device=\"nic\"}", 71);
  has("outrider_device_link_up{device=\"nic\"}", 1);
  has("outrider_stream_ring_full_polls_total{stream=\"probe\"}",
      filled<StreamSentCounts>().ring_full);
  has("outrider_stream_lost_packets{stream=\"probe\"}", filled<StreamReceivedCounts>().lost);
  has("outrider_host_received_packets_total{host=\"the host\"}", filled<HostCounters>().received);
  has("outrider_job_iterations_total{job=\"the job\"}", filled<JobLive>().iterations);
  has("outrider_flow_delivered_bytes_total{flow=\"the flow\"}",
      filled<FlowCounts>().delivered_bytes);
  has("outrider_flow_group_open_flows{flow_group=\"the flow_group\"}",
      filled<FlowGroupCounts>().open);
  has("outrider_request_completed_requests_total{request=\"the request\"}",
      filled<RequestCounts>().completed);
  has("outrider_capture_sent_frames_total{capture=\"the capture\"}", filled<CaptureCounts>().sent);
  EXPECT_THAT(lines, Contains("# TYPE outrider_generator_sent_packets_total counter"));
  EXPECT_THAT(lines, Contains("# HELP outrider_generator_sent_packets_total Packets that left"));
  EXPECT_THAT(lines, Contains("# TYPE outrider_generator_flows_open gauge"));
}

TEST(GeneratorMetrics, HaveDurationsInSeconds) {
  GeneratorLive live;
  live.counts.paused_ns = 1'250'000'000;
  live.run.longest_poll_gap_ns = 40'000;
  Stream stream{.name = "probe", .sends = true};
  stream.counts.sent.slipped_ns = 2'500'000;
  const std::string text = to_prometheus(metrics_of(live, {stream}, {}));
  EXPECT_THAT(text, HasSubstr("outrider_generator_paused_seconds_total 1.25\n"));
  EXPECT_THAT(text, HasSubstr("outrider_generator_longest_poll_gap_seconds 4"));
  EXPECT_THAT(text, HasSubstr("outrider_stream_slipped_seconds_total{stream=\"probe\"} 0.0025\n"));
  EXPECT_THAT(to_prometheus(metrics_of(filled_live(), {}, filled_parts())), Not(HasSubstr("_ns")));
}

// A counter of the report that nobody can watch would be noticed by nobody.
TEST(GeneratorMetrics, ShowEveryCountOfTheReport) {
  using Name = std::pair<std::string, std::string>;  // of the part, of the field
  std::set<Name> shown;
  for (const FigureValue& v : figures_of(filled_live())) shown.emplace(v.part, v.figure.field);
  std::size_t figures = 0;
  for (const FigureValue& v : figures_of_fields(filled<GeneratorReport>())) {
    // Sums over queue pairs, which a poll has no time for; what only a whole run says.
    if (v.part == "roce" || v.part == "background_roce") continue;
    if (v.figure.field == std::string_view("ledger_balanced")) continue;
    const std::string part = v.part == "totals" ? "neighbours"
                             : v.part == "ends" ? "stream_ends"
                                                : std::string(v.part);
    EXPECT_THAT(shown, Contains(Name(part, v.figure.field)));
    ++figures;
  }
  EXPECT_GT(figures, 100U);
}

/// Collects the numbers of a record, and of the records within it, whose rows are no Figures.
struct PlainNumbers {
  std::set<std::string> names;

  template <class T>
  void value(const Figure&, const T&) {}
  template <std::integral T>
  void value(const char* name, const T&) {
    names.insert(name);
  }
  template <class T>
  void value(const char*, const T& record) requires requires(PlainNumbers& v) {
    fields(v, record);
  }
  { fields(*this, record); }
  template <class T>
  void value(const char*, const T&) {}
};

TEST(GeneratorMetrics, AreAllRowsOfTheReportThatCount) {
  PlainNumbers plain;
  fields(plain, std::as_const(*std::make_unique<GeneratorReport>()));
  EXPECT_THAT(plain.names, testing::UnorderedElementsAre("bin_ns", "end_ns", "jobs_finished",
                                                         "link_down_checks"))
      << "a count needs a Figure as row, in a record that TrafficLive has too";
}

TEST(GeneratorMetrics, HaveASeriesOfTheirOwnEach) {
  const auto records =
      metrics_of(filled_live(), {filled_stream("probe", true, true)}, filled_parts());
  std::size_t figures = 0;
  for (const auto& record : records) figures += record.figures.size();
  std::set<std::string> samples;
  for (const auto& line : lines_of(to_prometheus(records)))
    if (!line.starts_with('#')) samples.insert(line.substr(0, line.rfind(' ')));
  EXPECT_EQ(samples.size(), figures);
}

TEST(GeneratorMetrics, LeaveOutWhatIsNotCounted) {
  GeneratorLive live = filled_live();
  live.run.device_rx_missed.reset();
  const std::string text = to_prometheus(
      metrics_of(live, {filled_stream("out", true, false), filled_stream("in", false, true)}, {}));
  EXPECT_THAT(text, Not(HasSubstr("device_rx_missed")));
  EXPECT_THAT(text, HasSubstr("outrider_generator_device_rx_nombuf_packets_total"));
  EXPECT_THAT(text, HasSubstr("outrider_stream_sent_packets_total{stream=\"out\"}"));
  EXPECT_THAT(text, Not(HasSubstr("outrider_stream_sent_packets_total{stream=\"in\"}")));
  EXPECT_THAT(text, HasSubstr("outrider_stream_received_packets_total{stream=\"in\"}"));
  EXPECT_THAT(text, Not(HasSubstr("outrider_stream_received_packets_total{stream=\"out\"}")));
  EXPECT_THAT(text, Not(HasSubstr("outrider_host_")));
}

// Prometheus refuses all that it is told if two series are one.
TEST(GeneratorMetrics, TellPartsOfOneNameApart) {
  RunParts parts;
  parts.requests.resize(3);
  for (std::size_t i = 0; i < 3; ++i) parts.requests.name(i, "ask a b");
  const std::string text = to_prometheus(metrics_of({}, {}, parts));
  for (const char* name : {"ask a b", "ask a b (2)", "ask a b (3)"})
    EXPECT_THAT(text, HasSubstr("outrider_request_open_connections{request=\"" + std::string(name) +
                                "\"} 0"));
}

// Sums over some of them would look like sums over all.
TEST(GeneratorMetrics, HaveAllPartsOfAKindOrNone) {
  RunParts parts;
  parts.hosts.resize(10'000);
  parts.jobs.resize(kMostShownParts);
  EXPECT_FALSE(parts.hosts.shown());
  EXPECT_TRUE(parts.hosts.too_many());
  EXPECT_TRUE(parts.jobs.shown());
  EXPECT_FALSE(parts.jobs.too_many());
  parts.hosts.name(9'999, "last");
  for (std::size_t i = 0; i < kMostShownParts; ++i) parts.jobs.name(i, std::to_string(i));
  std::vector<Stream> streams(kMostShownParts + 1, filled_stream("s", true, true));
  const std::string text = to_prometheus(metrics_of(filled_live(), streams, parts));
  EXPECT_THAT(text, Not(HasSubstr("outrider_host_")));
  EXPECT_THAT(text, Not(HasSubstr("outrider_stream_")));
  EXPECT_THAT(text, HasSubstr("outrider_job_bursts_total{job=\"255\"} 0"));
  EXPECT_THAT(text, HasSubstr("outrider_generator_sent_packets_total"));
}

}  // namespace
}  // namespace outrider::generator_metrics_test
