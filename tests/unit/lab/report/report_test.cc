#include "tools/lab/report/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

#include "tests/unit/lab/measure/metrics_fixture.h"
#include "tools/lab/results/bundle.h"
#include "tools/lab/results/database.h"

namespace outrider::lab_report_test {
using namespace sw;
using namespace lab;
namespace {

namespace fs = std::filesystem;
using namespace lab_test;

/// Has a bundle in a directory for the test: off and on, two seeds, one worker. Base RTT and bins
/// are 1 ms.
class ReportTest : public testing::Test {
 protected:
  ReportTest()
      : directory_(fs::path(testing::TempDir()) /
                   ("outrider-report-" +
                    std::string(testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    fs::remove_all(directory_);
    for (const char* label : {"off", "on"})
      for (const std::uint64_t seed : {1U, 2U}) {
        cases_.push_back(make_case(label, 1));
        cases_.back().seed = seed;
        cases_.back().parameters = {{"switch.regulation.mode", std::string(label)},
                                    {"workers", std::int64_t{1}}};
      }
    for (const Case& c : cases_) experiment_.runs.push_back(run_of(c));
  }
  ~ReportTest() override { fs::remove_all(directory_); }

  /// Returns a run with a burst due at 500 and, in on, START at 498. It is delivered after 40 in
  /// off and 20 in on, 1 later in the second seed. 20 packets wait; in on 2 from START to burst.
  static CaseRun run_of(const Case& c) {
    const bool on = c.label == "on";
    RunResult r = make_result(1000);
    const double took = (on ? 20 : 40) + static_cast<double>(c.seed - 1);
    add_burst(r, 0, 0,
              {.due = 500, .start = on ? 498.0 : -1, .first = 501, .delivered = 500 + took});
    add_queue_burst(r, 0, 0, 502, on ? 2 : 20, 30);
    for (auto& bin : queue_of(r).bins) {
      bin.sojourn_ns = 20 * static_cast<std::uint64_t>(kMs);
      bin.min_threshold_packets = 40;
    }
    if (on)
      for (std::size_t i = 498; i < 502; ++i) {
        queue_of(r).bins[i].sojourn_ns = 2 * static_cast<std::uint64_t>(kMs);
        queue_of(r).bins[i].min_threshold_packets = 10;
      }
    queue_of(r).marks[TrafficClass::kBackground][0] = 6 + 2 * c.seed;
    deliver(r, TrafficClass::kBackground, 0, 1000, 900);
    return {.definition = &c, .result = std::move(r)};
  }

  ReportJson data() {
    write_bundle(directory_, experiment_, summarise(experiment_), {{"dpdk", "x"}});
    return report_data(directory_);
  }

  static double at(const ReportJson& view, const ReportJson& series, double ms) {
    const double cell = (ms - view.at("from_ms").get<double>()) / view.at("step_ms").get<double>();
    return series.at(static_cast<std::size_t>(cell)).get<double>();
  }

  fs::path directory_;
  std::vector<Case> cases_;
  Experiment experiment_{.name = "e", .runtime = Runtime::kVirtual, .question = "why?"};
};

TEST_F(ReportTest, ArmsHaveTheFiguresOfTheSummary) {
  const auto d = data();
  EXPECT_EQ(d.at("question"), "why?");
  EXPECT_EQ(d.at("has_job"), true);
  EXPECT_EQ(d.at("base_rtt_seconds"), 0.001);
  EXPECT_EQ(d.at("paper"), nullptr) << "another experiment than the paper's";
  ASSERT_EQ(d.at("arms").size(), 2U);
  const auto& on = d.at("arms").at(1);
  EXPECT_EQ(on.at("name"), "on");
  EXPECT_EQ(on.at("off"), false);
  EXPECT_EQ(d.at("arms").at(0).at("off"), true);
  EXPECT_EQ(on.at("times_ms"), ReportJson({20.0, 21.0}));
  // The medians are 20.5 in on and 40.5 ms in off.
  EXPECT_EQ(on.at("metrics").at("communication_seconds_median").at(0), 0.0205);
  EXPECT_EQ(on.at("metrics").at("communication_seconds_median").at(3), -0.49383);
  EXPECT_EQ(on.at("attribution"), nullptr);
  EXPECT_EQ(on.at("drops"), ReportJson::array());
  ASSERT_EQ(on.at("marks").size(), 1U);
  EXPECT_EQ(on.at("marks").at(0).at("class"), "background");
  EXPECT_EQ(on.at("marks").at(0).at("measured"), 9.0) << "(8 + 10) / 2 a run";
  EXPECT_EQ(on.at("bursts").at(0),
            ReportJson::parse("[1, 0, 0, 0, 0, -2.0, null, 1.0, 2.0, 20.0, 0]"));
}

// The on arm's own runs without background take half as long.
TEST_F(ReportTest, AllArmsAreOverWhatTheOffArmTakesAlone) {
  for (auto& run : experiment_.runs) run.alone = run.result;
  const auto d = data();
  EXPECT_EQ(d.at("arms").at(0).at("alone_ms"), 40.5);
  EXPECT_EQ(d.at("arms").at(1).at("alone_ms"), 40.5);
}

TEST_F(ReportTest, QueueIsAlignedAtTheSignalAndAtDue) {
  const auto d = data();
  const auto& views = d.at("points").at(0).at("views");
  EXPECT_EQ(views.at("start").at("from_ms"), -10.0);
  EXPECT_EQ(views.at("due").at("from_ms"), -7.0) << "lead 2 and 5 base RTTs";
  const auto& off = d.at("arms").at(0).at("views");
  const auto& on = d.at("arms").at(1).at("views");
  for (const double ms : {-9.5, 0.5, 20.5})
    EXPECT_EQ(at(views.at("start"), off.at("start").at("queue").at("mean"), ms), 20);
  const auto& start = on.at("start");
  EXPECT_EQ(at(views.at("start"), start.at("queue").at("mean"), -0.5), 20);
  EXPECT_EQ(at(views.at("start"), start.at("queue").at("mean"), 0.5), 2) << "START is at 498";
  EXPECT_EQ(at(views.at("start"), start.at("queue").at("mean"), 3.5), 2);
  EXPECT_EQ(at(views.at("start"), start.at("queue").at("mean"), 4.5), 20);
  EXPECT_EQ(at(views.at("start"), start.at("threshold"), 0.5), 10);
  EXPECT_EQ(at(views.at("due"), on.at("due").at("queue").at("mean"), -0.5), 2) << "due is at 500";
  EXPECT_EQ(at(views.at("due"), on.at("due").at("queue").at("mean"), 2.5), 20);
  // 900 bytes per millisecond.
  EXPECT_EQ(at(views.at("due"), on.at("due").at("background"), 2.5), 7.2);
}

TEST_F(ReportTest, HostsAreOfTheMedianIterationWhichMayBeTheSlowestToo) {
  const auto d = data();
  const auto& hosts = d.at("arms").at(1).at("hosts");
  EXPECT_EQ(hosts.at("seed"), 1) << "the first";
  EXPECT_EQ(hosts.at("jobs"), ReportJson::parse(R"([{"name": "", "workers": 1, "servers": 1}])"));
  EXPECT_EQ(hosts.at("highest_threshold"), 40);
  EXPECT_EQ(hosts.at("background_mbit"), 7.2);
  ASSERT_EQ(hosts.at("windows").size(), 1U);
  const auto& w = hosts.at("windows").at(0);
  EXPECT_EQ(w.at("why"), ReportJson({"median", "slowest"}));
  EXPECT_EQ(w.at("from_ms"), -5) << "START at -2, and three base RTTs";
  EXPECT_EQ(w.at("bursts"), ReportJson::parse("[[0, 0, 0, 1, 0, -2.0, null, 1.0, 20.0, 0]]"));
  EXPECT_EQ(at(w, w.at("threshold"), -2.5), 40);
  EXPECT_EQ(at(w, w.at("threshold"), 1.5), 10);
  EXPECT_EQ(at(w, w.at("queue"), 1.5), 2);
  EXPECT_EQ(at(w, w.at("queue"), 2.5), 20);
  EXPECT_EQ(at(w, w.at("background"), 2.5), 7.2);
}

// A marker such as CoDel has a threshold only while the queue is regulated.
TEST_F(ReportTest, HostsOfAQueueWithoutAThresholdHaveNoHighestOne) {
  for (auto& run : experiment_.runs)
    for (auto& bin : queue_of(run.result).bins)
      if (bin.min_threshold_packets == 40)
        bin.min_threshold_packets = std::numeric_limits<std::uint32_t>::max();
  const auto hosts = data().at("arms").at(1).at("hosts");
  EXPECT_EQ(hosts.at("highest_threshold"), nullptr);
  const auto& w = hosts.at("windows").at(0);
  EXPECT_EQ(at(w, w.at("threshold"), 1.5), 10);
  EXPECT_EQ(w.at("threshold").at(0), nullptr);
}

// Iterations 0 and 1 end after 20 and 30, the latter with a pull; 2 is never delivered. A burst of
// another job lies beside iteration 1, and one of iteration 0 long before it.
TEST_F(ReportTest, HostsShowWhatWasUnderWayAroundTheSlowestAndTheIncompleteIteration) {
  RunResult& r = experiment_.runs[2].result;
  add_burst(r, 0, 1, {.due = 600, .first = 601, .delivered = 630});
  add_burst(r, 0, 1, {.due = 630, .first = 631, .delivered = 650}, BurstDirection::kPull);
  add_burst(r, 0, 2, {.due = 700, .first = 701});
  add_burst(r, 0, 0, {.due = 590, .first = 591, .delivered = 610}, BurstDirection::kPush, 1);
  const auto d = data();
  const auto& windows = d.at("arms").at(1).at("hosts").at("windows");
  ASSERT_EQ(windows.size(), 4U) << "three of job 0 and one of job 1";
  EXPECT_EQ(windows.at(0).at("why"), ReportJson({"median"}));
  EXPECT_EQ(windows.at(0).at("iteration"), 0);
  const auto& slowest = windows.at(1);
  EXPECT_EQ(slowest.at("why"), ReportJson({"slowest"}));
  EXPECT_EQ(slowest.at("iteration"), 1);
  EXPECT_EQ(slowest.at("bursts"),
            ReportJson::parse("[[0, 1, 0, 1, 0, null, null, 1.0, 30.0, 0],"
                              " [0, 1, 0, 0, 30.0, null, null, 31.0, 50.0, 0],"
                              " [1, 0, 0, 1, -10.0, null, null, -9.0, 10.0, 0]]"));
  const auto& incomplete = windows.at(2);
  EXPECT_EQ(incomplete.at("why"), ReportJson({"incomplete"}));
  const double end_ms =
      incomplete.at("from_ms").get<double>() +
      incomplete.at("step_ms").get<double>() * incomplete.at("cells").get<double>();
  EXPECT_NEAR(end_ms, 1 + 20 + 3, 0.2) << "last event, 20 base RTTs as it did not arrive, margin";
  EXPECT_EQ(incomplete.at("bursts").at(0).at(8), nullptr);
  EXPECT_EQ(windows.at(3).at("job"), 1);
}

TEST_F(ReportTest, MarksAreOfTheMeasuredQueueWhateverItsNumber) {
  const auto marks = data().at("arms").at(1).at("marks");
  for (auto& run : experiment_.runs) queue_of(run.result).queue = 1;
  EXPECT_EQ(data().at("arms").at(1).at("marks"), marks);
}

TEST_F(ReportTest, IsTheSameToTheByte) {
  const std::string first = report_html(data(), "library");
  EXPECT_EQ(report_html(report_data(directory_), "library"), first);
  write_report(directory_);
  const auto written = [this] {
    std::ifstream in(directory_ / "report.html");
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  };
  const std::string page = written();
  write_report(directory_);
  EXPECT_EQ(written(), page);
  EXPECT_EQ(page.find(directory_.string()), std::string::npos) << "no path of this machine";
}

// An installed lab draws its charts without any other package.
TEST_F(ReportTest, TheChartLibraryIsInsideTheProgramWithItsLicence) {
  EXPECT_NE(chart_library().substr(0, 200).find("version:\"3.5."), std::string_view::npos);
  EXPECT_GT(chart_library().size(), 100'000U);
  const std::string page = report_html(data());
  EXPECT_NE(page.find(chart_library().substr(0, 1000)), std::string::npos);
  for (const char* part : {"Copyright (c) 2010-2016, Michael Bostock",
                           "Redistributions in binary form", "SUCH DAMAGE.\n-->"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST_F(ReportTest, TextsCannotEndTheElementThatTheyAreIn) {
  experiment_.name = "</title><script>";
  experiment_.question = "</script><script>alert(1)</script>\xff";
  const std::string page = report_html(data(), "if (a</b/.test(x)) '</script>'");
  const auto count = [&page](std::string_view what) {
    std::size_t n = 0;
    for (auto i = page.find(what); i != std::string::npos; i = page.find(what, i + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("</script>"), 4U) << "library, data, glossary, program";
  EXPECT_EQ(count("</title>"), 1U);
  EXPECT_EQ(count("alert(1)"), 1U);
}

TEST_F(ReportTest, WithoutRunsThereIsAPageThatSaysSo) {
  experiment_.runs.clear();
  experiment_.planned_cases = 4;
  const auto d = data();
  EXPECT_EQ(d.at("interrupted"), true);
  EXPECT_EQ(d.at("arms"), ReportJson::array());
  EXPECT_FALSE(report_html(d, "").empty());
}

TEST_F(ReportTest, RunsThatLeftNothingDoNotStopIt) {
  experiment_.runs[0].result = {};
  experiment_.runs[2].result = {};
  const auto d = data();
  ASSERT_EQ(d.at("arms").size(), 2U);
  EXPECT_EQ(d.at("arms").at(1).at("times_ms"), ReportJson({21.0}));
  EXPECT_EQ(d.at("arms").at(1).at("hosts").at("seed"), 2) << "the first that has iterations";
}

TEST_F(ReportTest, SaysWhichFileIsAtFault) {
  data();
  const auto fault = [this] {
    try {
      report_data(directory_);
    } catch (const std::runtime_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const auto refused = [&fault](const char* text) {
    EXPECT_NE(fault().find(text), std::string::npos) << fault();
  };
  Database(directory_ / "results.sqlite").finish();
  refused("no such table: experiment");
  std::ofstream(directory_ / "results.sqlite") << "SQLite, but no database";
  refused("results.sqlite is no results.sqlite of outrider-lab: file is not a database; name");
  fs::remove(directory_ / "results.sqlite");
  refused("results.sqlite is not there; name a directory that");
}

}  // namespace
}  // namespace outrider::lab_report_test
