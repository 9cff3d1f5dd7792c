#include "tools/lab/results/trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/unit/lab/measure/metrics_fixture.h"
#include "tools/lab/results/bundle.h"

namespace outrider::trace_test {
using namespace lab;
namespace {

namespace fs = std::filesystem;
using namespace lab_test;
using nlohmann::json;

/// Has results of one case in a directory for the test: two workers, bins and base RTT of 1 ms.
class TraceTest : public testing::Test {
 protected:
  TraceTest()
      : directory_(fs::path(testing::TempDir()) /
                   ("outrider-trace-" +
                    std::string(testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    fs::remove_all(directory_);
    RunResult& r = result_;
    for (std::uint16_t w = 0; w < 2; ++w)
      r.traffic.iterations.push_back({.job = 0,
                                      .worker = w,
                                      .iteration = 0,
                                      .begin_ns = 50 * kMs,
                                      .ready_ns = 100 * kMs,
                                      .end_ns = (150 + w) * kMs});
    r.traffic.iterations.push_back(
        {.worker = 0, .iteration = 1, .begin_ns = 150 * kMs, .ready_ns = 190 * kMs});
    add_burst(r, 0, 0, {.due = 100, .start = 98, .first = 101, .delivered = 140});
    add_burst(r, 0, 1, {.due = 130, .start = 130, .first = 141, .delivered = 160});  // overlaps
    add_burst(r, 0, 2, {.due = 190});
    add_burst(r, 1, 0, {.due = 100, .first = 100, .delivered = 145}).times.emplace();
    add_burst(r, 0, 0, {.due = 140, .first = 140, .delivered = 150}, BurstDirection::kPull);
    add_queue_burst(r, 0, 0, 102, 7, 50);
    add_queue_burst(r, 5, 0, 103, 7, 50).identity.job = 7;  // of which only the switch knows
    for (auto& bin : queue_of(r).bins) bin.min_threshold_packets = 40;
    for (const std::size_t i : {100U, 101U, 103U}) queue_of(r).bins[i].min_threshold_packets = 10;
    queue_of(r).bins[101].min_threshold_packets = 5;
    queue_of(r).bins[102].min_threshold_packets = 0;  // nothing came
    queue_of(r).bins[110].sojourn_ns = 3 * static_cast<std::uint64_t>(kMs);
  }
  ~TraceTest() override { fs::remove_all(directory_); }

  void write(Runtime runtime = Runtime::kVirtual) {
    Experiment experiment{.name = "e", .runtime = runtime, .runs = {}};
    experiment.runs.push_back({.definition = &case_, .result = result_});
    experiment.runs.back().alone = result_;
    write_bundle(directory_, experiment, summarise(experiment), {{"dpdk", "x"}});
  }
  ResultsReader results() const { return ResultsReader(directory_ / kDatabaseFile); }
  std::string text() const {
    write_trace(results(), 0, directory_ / "trace.json");
    std::ifstream in(directory_ / "trace.json");
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
  }
  json trace(Runtime runtime = Runtime::kVirtual) {
    write(runtime);
    return json::parse(text());
  }
  std::int64_t sum_ns(const std::string& sql) const {
    const ResultsReader reader = results();
    Query row = reader.query(sql);
    EXPECT_TRUE(row.next());
    return row.whole(0).value_or(-1);
  }

  fs::path directory_;
  Case case_ = make_case("on", 2);
  RunResult result_ = make_result(200);
};

std::pair<int, int> thread_of(const json& event) {
  return {event.at("pid").get<int>(), event.at("tid").get<int>()};
}

std::int64_t ns(const json& event, const char* key) {
  return std::llround(event.at(key).get<double>() * 1e3);
}

/// Returns the events of a kind whose name begins like this.
std::vector<json> events(const json& trace, const std::string& kind, const std::string& name) {
  std::vector<json> found;
  for (const auto& event : trace)
    if (event.at("ph") == kind && event.at("name").get<std::string>().starts_with(name))
      found.push_back(event);
  return found;
}

std::int64_t lasted_ns(const json& trace, const std::string& name) {
  std::int64_t sum = 0;
  for (const auto& event : events(trace, "X", name)) sum += ns(event, "dur");
  return sum;
}

// A viewer takes the first of two spans that begin together for the outer one, also an empty one.
TEST_F(TraceTest, PartsThatTakeNoTimeAreLeftOut) {
  result_.traffic.iterations[0].ready_ns = result_.traffic.iterations[0].begin_ns;
  std::size_t spans = 0;
  for (const json& event : trace())
    if (event.at("ph") == "X") {
      ++spans;
      EXPECT_GT(event.at("dur"), 0) << event;
    }
  EXPECT_GT(spans, 5U);
}

TEST_F(TraceTest, SumsAreThoseOfTheTables) {
  const json all = trace();
  const std::string where = " WHERE run = 'measured' AND ";
  const auto sum = [&](const std::string& what, const std::string& table_and_rest) {
    return sum_ns("SELECT SUM(" + what + ") FROM " + table_and_rest);
  };
  const std::string ended = "iterations" + where + "end_ns IS NOT NULL";
  EXPECT_EQ(lasted_ns(all, "iteration "), sum("end_ns - begin_ns", ended));
  EXPECT_EQ(lasted_ns(all, "waiting for parameters"), sum("end_ns - ready_ns", ended));
  EXPECT_EQ(lasted_ns(all, "computing"), sum("ready_ns - begin_ns", "iterations" + where + "1"));
  for (const std::string direction : {"push", "pull"})
    EXPECT_EQ(lasted_ns(all, direction + " "),
              sum("delivered_ns - due_ns", "bursts" + where + "direction = '" + direction + "'"));
  EXPECT_EQ(lasted_ns(all, "under way"),
            sum("delivered_ns - first_sent_ns", "bursts" + where + "1"));
  EXPECT_EQ(lasted_ns(all, "threshold lowered"),
            sum("length_ns", "queue" + where + "min_threshold_packets < 40"));
  EXPECT_EQ(events(all, "i", "START").size(), 2U);
}

TEST_F(TraceTest, SpansOfAThreadFollowOrContainEachOther) {
  const json all = trace();
  std::map<std::pair<int, int>, std::vector<std::int64_t>> open;  // ends, by thread
  std::map<std::pair<int, int>, std::string> names;
  for (const auto& event : all) {
    if (event.at("name") == "thread_name")
      names[thread_of(event)] = event.at("args").at("name").get<std::string>();
    if (event.at("ph") != "X") continue;
    auto& ends = open[thread_of(event)];
    while (!ends.empty() && ends.back() <= ns(event, "ts")) ends.pop_back();
    const std::int64_t end = ns(event, "ts") + ns(event, "dur");
    EXPECT_TRUE(ends.empty() || end <= ends.back()) << event;
    ends.push_back(end);
  }
  std::set<std::string> used;
  for (const auto& [thread, ends] : open) used.insert(names.at(thread));
  EXPECT_EQ(used,
            (std::set<std::string>{"worker 0", "worker 0 push", "worker 0 push, 2", "worker 0 pull",
                                   "worker 1", "worker 1 push", "regulation"}));
}

TEST_F(TraceTest, ProcessesAndThreadsHaveNumbersOfTheirOwn) {
  case_.observed.queues = {"leaf.up"};
  std::set<int> numbers;
  std::vector<std::string> processes;
  for (const auto& event : events(trace(), "M", "")) {
    const bool process = event.at("name") == "process_name";
    EXPECT_TRUE(numbers.insert(event.at(process ? "pid" : "tid").get<int>()).second) << event;
    if (process) processes.push_back(event.at("args").at("name").get<std::string>());
  }
  EXPECT_EQ(processes, (std::vector<std::string>{"job 0 of on, seed 1", "measured queue leaf.up",
                                                 "queue leaf.up.0"}));
}

TEST_F(TraceTest, CountersHaveTheValuesOfTheQueue) {
  const json all = trace();
  std::map<std::int64_t, double> means;
  for (const auto& event : events(all, "C", "mean occupancy"))
    means[ns(event, "ts")] = event.at("args").at("packets").get<double>();
  EXPECT_EQ(means, (std::map<std::int64_t, double>{{0, 0}, {110 * kMs, 3}, {111 * kMs, 0}}));
  const auto lowered = events(all, "X", "threshold lowered");
  ASSERT_EQ(lowered.size(), 2U) << "of 102 it is not known";
  EXPECT_EQ(ns(lowered[0], "ts"), 100 * kMs);
  EXPECT_EQ(lowered[0].at("args").at("lowest_packets"), 5);
}

TEST_F(TraceTest, QueuesHaveTheGeneratorsClock) {
  // The queue's clock is 1 ms ahead: its first packet left at 101 and came at 102.
  const auto lowered = events(trace(Runtime::kLoopback), "X", "threshold lowered");
  ASSERT_EQ(lowered.size(), 2U);
  EXPECT_EQ(ns(lowered[0], "ts"), 99 * kMs);
}

TEST_F(TraceTest, QueuesSayWhenTheyWereRegulatedAndStopped) {
  case_.parameters = {{"switch.regulation.mode", std::string("pace")}};
  queue_of(result_).regulated = {{98 * kMs, 140 * kMs}, {150 * kMs, 160 * kMs}};
  queue_of(result_).stopped = {{99 * kMs, 120 * kMs}};
  const json all = trace(Runtime::kLoopback);  // the queue's clock is 1 ms ahead
  EXPECT_EQ(lasted_ns(all, "regulated: pace"), 52 * kMs);
  const auto stopped = events(all, "X", "stopped");
  ASSERT_EQ(stopped.size(), 1U);
  EXPECT_EQ(ns(stopped[0], "ts"), 98 * kMs);
  EXPECT_NE(thread_of(stopped[0]), thread_of(events(all, "X", "regulated").at(0)));
}

TEST_F(TraceTest, EqualResultsGiveEqualTraces) {
  write();
  const std::string first = text();
  write();
  EXPECT_EQ(text(), first);
}

TEST_F(TraceTest, SaysWhatIsNotThere) {
  write();
  const auto fault = [&](std::size_t index, const fs::path& file) -> std::string {
    try {
      write_trace(results(), index, file);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(fault(7, directory_ / "t"), "there is no case 7; the table `cases` has their numbers");
  EXPECT_NE(fault(0, directory_ / "none" / "t").find((directory_ / "none").string()),
            std::string::npos);
  EXPECT_FALSE(fs::exists(directory_ / "t"));
}

}  // namespace
}  // namespace outrider::trace_test
