// Goal: the files of a bundle suffice for its figures. Method: figures of summary.json are computed
// again from the files alone, by the definitions of docs/measurement.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/unit/lab/measure/metrics_fixture.h"
#include "tools/lab/results/bundle.h"
#include "tools/lab/summary/metric.h"

namespace outrider::recompute_test {
using namespace lab;
namespace {

namespace fs = std::filesystem;
using namespace lab_test;

using Row = std::map<std::string, std::string>;

class RecomputeTest : public testing::Test {
 protected:
  RecomputeTest()
      : directory_(fs::path(testing::TempDir()) /
                   ("outrider-recompute-" +
                    std::string(testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    fs::remove_all(directory_);
    // Bursts of 5 ms, and a background that goes on for long after the queue's last packet.
    RunResult r = make_result(2000);
    for (std::uint32_t i = 0; i < 3; ++i)
      for (std::uint16_t w = 0; w < 2; ++w) {
        const double due = 501 + 100.0 * i;
        add_burst(r, w, i, {.due = due, .first = due + 1, .delivered = due + 5 + i + 2 * w});
        add_queue_burst(r, w, i, due + 1, 7 + i, 50);
      }
    queue_of(r).bins.resize(900);
    for (int i = 0; i < 2000; ++i)
      deliver(r, TrafficClass::kBackground, i, i + 1, 500 + static_cast<std::uint64_t>(i % 7));
    deliver(r, TrafficClass::kDdl, 501, 720, 77);
    tg::FlowGroupReport flows;
    flows.name = "mice, \"quick\"";
    std::uint64_t above = 0;
    for (const std::uint64_t to : {10'000ULL, 100'000ULL, 1'000'000ULL, ~0ULL}) {
      auto& c = flows.classes.emplace_back();
      c.above_bytes = std::exchange(above, to);
      c.up_to_bytes = to;
      for (std::uint64_t i = 0; i < 150; ++i) {
        c.completion_ns.record(to % 1000 + 40'000 * (1 + i * i));
        c.slowdown_milli.record(1000 + i * 37);
      }
    }
    flows.arrivals = flows.completed = 600;
    r.traffic.flow_groups = {flows, flows};
    tg::RequestReport requests;
    requests.name = "ask";
    for (std::uint64_t i = 1; i < 300; ++i) requests.latency_ns.record(1'000'000 / i);
    r.traffic.requests = {requests};
    for (std::uint64_t i = 0; i < 500; ++i) {
      queue_of(r).burst_sojourn_ns.record(i * 991);
      queue_of(r).interval_sojourn_ns.record(i * 1511);
    }
    experiment_.runs.push_back({.definition = &case_, .result = std::move(r)});
    write();
  }
  ~RecomputeTest() override { fs::remove_all(directory_); }

  void write() {
    summary_ = summarise(experiment_);
    write_bundle(directory_, experiment_, summary_);
  }
  static std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      else if (c == ',' && !quoted) cells.emplace_back();
      else cells.back() += c;
    }
    return cells;
  }
  std::vector<Row> rows(const char* file) const {
    std::ifstream in(directory_ / file);
    EXPECT_TRUE(in) << file;
    std::string line;
    std::getline(in, line);
    const auto names = cells_of(line);
    std::vector<Row> all;
    while (std::getline(in, line)) {
      const auto cells = cells_of(line);
      EXPECT_EQ(cells.size(), names.size()) << line;
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (i == 0) all.emplace_back();
        all.back()[names[i]] = cells[i];
      }
    }
    return all;
  }
  static double number(const Row& row, const char* column) {
    const std::string& cell = row.at(column);
    EXPECT_FALSE(cell.empty()) << column;
    return std::strtod(cell.c_str(), nullptr);
  }
  const CaseMetrics& metrics() const { return summary_.cases.at(0).metrics; }
  double metric(const std::string& name) const {
    const CaseSummary* one[]{&summary_.cases.at(0)};
    return value_of(metric_named(name), one);
  }

  /// Returns the sum of a column of queue.csv between two instants, linear within a line.
  double between(const char* column, double from_ns, double to_ns) const {
    double sum = 0;
    for (const Row& row : rows("queue.csv")) {
      const double begin = number(row, "begin_ns"), length = number(row, "length_ns");
      const double part = std::min(begin + length, to_ns) - std::max(begin, from_ns);
      if (part > 0) sum += number(row, column) * part / length;
    }
    return sum;
  }
  /// Computes goodputs from queue.csv, which have to be those of summary.json.
  void expect_goodputs() const {
    const double from_ns = metrics().measured_from_seconds * 1e9;
    const double to_ns = metrics().measured_to_seconds * 1e9;
    for (const auto& [column, goodput] :
         {std::pair("background_delivered_bytes", metrics().background_goodput_bits_per_second),
          std::pair("ddl_delivered_bytes", metrics().ddl_goodput_bits_per_second)})
      EXPECT_NEAR(between(column, from_ns, to_ns) * 8e9 / (to_ns - from_ns) / goodput, 1, 1e-9)
          << column;
  }
  /// Returns a quantile of all lines of histograms.csv that `take` says.
  template <class Take>
  double quantile(double q, Take take) const {
    std::map<double, double> counts;
    double count = 0, least = HUGE_VAL, most = 0;
    for (const Row& row : rows("histograms.csv")) {
      if (!take(row)) continue;
      counts[number(row, "value")] += number(row, "count");
      count += number(row, "count");
      least = std::min(least, number(row, "min"));
      most = std::max(most, number(row, "max"));
    }
    double seen = 0;
    for (const auto& [value, n] : counts)
      if ((seen += n) >= std::ceil(q * count)) return std::clamp(value, least, most);
    return NAN;
  }

  fs::path directory_;
  Case case_ = make_case("off", 2);
  Experiment experiment_{.name = "e", .runtime = Runtime::kVirtual, .runs = {}};
  Summary summary_;
};

TEST_F(RecomputeTest, GoodputsAreInQueueCsvAlsoAfterTheQueuesLastPacket) {
  EXPECT_EQ(metrics().measured_to_seconds, 2.0);
  expect_goodputs();
}

// Lines of several bins lie around, of which a part would be taken for what is delivered evenly.
TEST_F(RecomputeTest, TheBinsInWhichTheSpanEndsHaveLinesOfTheirOwn) {
  RunResult& r = experiment_.runs.front().result;
  r.traffic.end_ns = 1'983 * kMs + kMs / 2;
  deliver(r, TrafficClass::kBackground, 1'984, 2'000, 90'000);
  write();
  EXPECT_EQ(metrics().measured_to_seconds, 1.9835);
  expect_goodputs();
}

TEST_F(RecomputeTest, TimesOfBurstsAreInBurstsCsv) {
  std::map<std::string, double> last, due;
  double found = 0;
  for (const Row& row : rows("bursts.csv")) {
    const std::string& iteration = row.at("iteration");
    due.try_emplace(iteration, HUGE_VAL);
    due[iteration] = std::min(due[iteration], number(row, "due_ns"));
    last[iteration] = std::max(last[iteration], number(row, "delivered_ns"));
    found += number(row, "start_background_packets") / 6;  // of both workers the same
  }
  double sum = 0;
  for (const auto& [iteration, end] : last) sum += (end - due[iteration]) / 3;
  EXPECT_NEAR(sum * 1e-9, metric("communication_seconds_mean"), 1e-12);
  EXPECT_NEAR(found, metric("start_queue_packets_mean"), 1e-9);
}

TEST_F(RecomputeTest, DistributionsAreInHistogramsCsv) {
  const auto named = [](const char* histogram) {
    return [histogram](const Row& row) { return row.at("histogram") == histogram; };
  };
  const auto of_size = [](const char* histogram, double above, double to) {
    return [=](const Row& row) {
      return row.at("histogram") == histogram && number(row, "above_bytes") >= above &&
             !row.at("up_to_bytes").empty() && number(row, "up_to_bytes") <= to;
    };
  };
  for (const auto& [q, end] : {std::pair(0.5, "_median"), std::pair(0.99, "_p99")}) {
    const auto expect = [&](const std::string& name, double value) {
      EXPECT_NEAR(value / metric(name + end), 1, 1e-12) << name << end;
    };
    expect("small_flow_completion_seconds",
           quantile(q, of_size("flow_completion_ns", 0, 100'000)) * 1e-9);
    expect("medium_flow_slowdown",
           quantile(q, of_size("flow_slowdown_milli", 100'000, 1'000'000)) * 1e-3);
    expect("request_latency_seconds", quantile(q, named("request_latency_ns")) * 1e-9);
  }
  for (const auto& [histogram, figure] :
       {std::pair("burst_sojourn_ns", metrics().burst_sojourn_seconds),
        std::pair("interval_sojourn_ns", metrics().interval_sojourn_seconds)}) {
    EXPECT_NEAR(quantile(0.99, named(histogram)) * 1e-9, figure.p99, 1e-15);
    const auto all = rows("histograms.csv");
    const auto row = std::ranges::find_if(all, named(histogram));
    ASSERT_NE(row, all.end());
    EXPECT_NEAR(number(*row, "mean") * 1e-9, figure.mean, 1e-15);
    EXPECT_NEAR(number(*row, "max") * 1e-9, figure.max, 1e-15);
  }
  double flows = 0;
  for (const Row& row : rows("histograms.csv"))
    if (of_size("flow_completion_ns", 0, 100'000)(row)) flows += number(row, "count");
  EXPECT_EQ(flows, metric("small_flows_completed"));
}

// A queue whose bins are used up has no values behind them: 0 would say that it was empty.
TEST_F(RecomputeTest, BehindTheBinsOfAQueueNothingIsSaidOfIt) {
  case_.switches.max_bins = 900;
  write_bundle(directory_, experiment_, summarise(experiment_));
  for (const Row& row : rows("queue.csv")) {
    const bool behind = number(row, "begin_ns") >= 900.0 * kMs;
    EXPECT_EQ(row.at("busy_ns").empty(), behind) << row.at("begin_ns");
    EXPECT_EQ(row.at("sojourn_ns").empty(), behind) << row.at("begin_ns");
    EXPECT_FALSE(row.at("background_delivered_bytes").empty());
  }
  const Summary summary = summarise(experiment_);
  EXPECT_TRUE(summary.cases.at(0).metrics.series_cut);
}

}  // namespace
}  // namespace outrider::recompute_test
