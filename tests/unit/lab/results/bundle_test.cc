#include "tools/lab/results/bundle.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/unit/lab/measure/metrics_fixture.h"
#include "tools/lab/results/query.h"
#include "tools/lab/results/read_results.h"
#include "tools/lab/results/run_table.h"
#include "tools/lab/tables/brief_text.h"
#include "tools/lab/tables/collective_table.h"
#include "tools/lab/tables/column_table.h"
#include "tools/lab/tables/results_answer.h"

namespace outrider::bundle_test {
namespace {
std::vector<std::string> synced;  ///< names that files had when they were synced
}  // namespace
}  // namespace outrider::bundle_test

/// Takes the place of the C library's in this program.
extern "C" int fsync(int fd) {
  std::error_code ignored;
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  outrider::bundle_test::synced.push_back(
      std::filesystem::read_symlink(link, ignored).filename().string());
  return static_cast<int>(syscall(SYS_fsync, fd));
}

namespace outrider::bundle_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

namespace fs = std::filesystem;
using namespace lab_test;

/// Has a directory for the test that is removed at its end.
class BundleTest : public testing::Test {
 protected:
  BundleTest()
      : directory_(fs::path(testing::TempDir()) /
                   ("outrider-" +
                    std::string(testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    fs::remove_all(directory_);
  }
  ~BundleTest() override { fs::remove_all(directory_); }

  void write() { write_bundle(directory_, experiment_, summarise(experiment_), {{"dpdk", "x"}}); }

  std::string content(const fs::path& name) const {
    std::ifstream in(directory_ / name);
    EXPECT_TRUE(in) << name;
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

  std::vector<std::string> lines(const fs::path& name) const {
    std::istringstream in(content(name));
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }

  void add_run(RunResult result) {
    experiment_.runs.push_back({.definition = &case_,
                                .result = std::move(result),
                                .switch_toml = "s = 1\n",
                                .traffic_toml = "t = 1\n"});
  }

  fs::path directory_;
  Case case_ = make_case("on, \"lead 8\"", 1);
  Experiment experiment_{.name = "e", .runtime = Runtime::kVirtual, .runs = {}};
};

std::size_t commas(const std::string& line) {
  std::size_t n = 0;
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    n += !quoted && c == ',';
  }
  return n;
}

TEST_F(BundleTest, SurvivesALossOfPower) {
  add_run(make_result(10));
  synced.clear();
  write();
  for (const std::string name :
       {"summary.json", "table.txt", "bursts.csv", "queue.csv", "switch.toml"})
    EXPECT_TRUE(std::ranges::any_of(synced, [&](const std::string& file) {
      return file.starts_with(name + '.') && file.ends_with(".partial");
    })) << name;
}

TEST_F(BundleTest, HoldsEveryFile) {
  RunResult r = make_result(10);
  r.traffic.flows.emplace_back();
  add_run(std::move(r));
  write();
  EXPECT_EQ(content("summary.json"), to_json(summarise(experiment_)));
  EXPECT_EQ(content("table.txt"), result_text(summarise(experiment_)));
  const auto environment = nlohmann::json::parse(content("environment.json"));
  for (const char* key : {"written_at", "processor", "kernel", "compiler"})
    EXPECT_TRUE(environment.contains(key)) << key;
  EXPECT_EQ(environment.at("dpdk"), "x");
  EXPECT_EQ(content("config/000-on-lead-8-seed1/switch.toml"), "s = 1\n");
  EXPECT_EQ(content("config/000-on-lead-8-seed1/trafficgen.toml"), "t = 1\n");
  EXPECT_EQ(lines("flows.csv").size(), 2U);
  for (const auto& entry : fs::recursive_directory_iterator(directory_))
    EXPECT_NE(entry.path().extension(), ".part") << entry.path();
}

TEST_F(BundleTest, HoldsObservedQueuesWithTheirNames) {
  RunResult r = make_result(10);
  QueueReport other = queue_of(r);
  other.port_name = "down";
  other.queue = 1;
  other.bins[3].max_packets = 77;
  r.switches.queues.push_back(other);
  add_run(r);
  write();
  EXPECT_FALSE(fs::exists(directory_ / "queues.csv"));
  case_.observed.queues = {"leaf.down"};
  experiment_.runs.clear();
  add_run(std::move(r));
  write();
  const auto csv = lines("queues.csv");
  ASSERT_GE(csv.size(), 2U);
  EXPECT_TRUE(csv[0].starts_with("case_index,label,seed,run,port,queue,begin_ns,length_ns,"))
      << csv[0];
  std::uint64_t most = 0;
  for (std::size_t i = 1; i < csv.size(); ++i) {
    EXPECT_EQ(commas(csv[i]), commas(csv[0]));
    EXPECT_NE(csv[i].find(",leaf.down,1,"), std::string::npos) << csv[i];
    most += csv[i].find(",77,") != std::string::npos;
  }
  EXPECT_EQ(most, 1U);
}

TEST_F(BundleTest, HoldsCapturesByCaseAndPort) {
  RunResult r = make_result(10);
  r.captures = {{.port = "leaf.up", .packets = 1, .pcapng = std::string("a\0b", 3)}};
  add_run(std::move(r));
  write();
  EXPECT_EQ(content("captures/000-on-lead-8-seed1.leaf.up.pcapng"), std::string("a\0b", 3));
}

TEST_F(BundleTest, HoldsSamplesOfConnectionsIfThereAreAny) {
  add_run(make_result(10));
  write();
  EXPECT_FALSE(fs::exists(directory_ / "connections.csv"));
  RunResult r = make_result(10);
  r.traffic.connections = {{.at_ns = 5, .host = "w", .cwnd_bytes = 77}, {.at_ns = 6, .host = {}}};
  add_run(std::move(r));
  write();
  const auto csv = lines("connections.csv");
  ASSERT_EQ(csv.size(), 3U);
  EXPECT_TRUE(csv[0].starts_with("case_index,label,seed,run,at_ns,host,")) << csv[0];
  EXPECT_EQ(commas(csv[0]), commas(csv[1]));
  EXPECT_NE(csv[1].find(",5,w,"), std::string::npos) << csv[1];
}

// A link of 8 Gbit/s has sent 2,500 of 10,000 bytes in 10 us; in the last slice, of 4 us, 2,000 of
// 4,000.
TEST_F(BundleTest, HoldsLinksAndIterationsOfAFabric) {
  RunResult r = make_result(10);
  auto& links = r.links.emplace();
  links.span_ns = 10'000;
  links.slice_ns = 6'000;
  links.links = {{.tier = "leaf to spine",
                  .link = "leaf_0.to_spine_0",
                  .bits_per_second = 8'000'000'000,
                  .wire_bytes = 2'500}};
  links.series = {{.tier = "leaf to spine",
                   .link = "leaf_0.to_spine_0",
                   .links = 1,
                   .bits_per_second = 8'000'000'000,
                   .wire_bytes = {500, 2'000}}};
  r.traffic.iterations = {
      {.job = 1, .worker = 0, .iteration = 7, .begin_ns = 5, .ready_ns = 8, .end_ns = 20},
      {.job = 1, .worker = 1, .iteration = 7, .begin_ns = 4, .ready_ns = 9}};
  r.traffic.iterations[0].first_gradient_ns = 7;
  r.traffic.iterations[0].parameters_ns = r.traffic.iterations[1].parameters_ns = 19;
  add_run(std::move(r));
  experiment_.runs.back().alone = make_result(10);
  write();
  const auto csv = lines("links.csv");
  ASSERT_EQ(csv.size(), 2U) << "none of the run without background";
  EXPECT_EQ(commas(csv[0]), commas(csv[1]));
  EXPECT_TRUE(csv[0].ends_with(",watched_ns,utilisation")) << csv[0];
  EXPECT_TRUE(csv[1].ends_with(",0.25")) << csv[1];
  const auto slices = lines("link_slices.csv");
  ASSERT_EQ(slices.size(), 3U);
  EXPECT_TRUE(
      slices[2].ends_with(",leaf to spine,leaf_0.to_spine_0,1,8000000000,6000,4000,2000,0.5"))
      << slices[2];
  const auto iterations = lines("iterations.csv");
  ASSERT_EQ(iterations.size(), 3U);
  EXPECT_TRUE(iterations[2].find(",measured,1,1,7,4,9,") != std::string::npos) << iterations[2];
}

TEST_F(BundleTest, AFileThatNoRunNeedsIsNotOfEarlierResults) {
  add_run(make_result(10));
  experiment_.runs.back().result.links.emplace();
  write();
  EXPECT_TRUE(fs::exists(directory_ / "links.csv"));
  experiment_.runs.clear();
  add_run(make_result(10));
  write();
  EXPECT_FALSE(fs::exists(directory_ / "links.csv"));
}

TEST_F(BundleTest, TheDatabaseHasTheRowsOfTheFiles) {
  RunResult r = make_result(200);
  add_burst(r, 0, 0, {.due = 100, .first = 101, .delivered = 140});
  add_queue_burst(r, 0, 0, 102, 7, 50);
  r.switches.received = 12;
  add_run(std::move(r));
  write();
  const ResultsReader results(directory_ / kDatabaseFile);
  std::size_t with_rows = 0;
  for (const RunTable& table : run_tables()) {
    const std::string name(table.name), file = name + ".csv";
    const std::string rows = rows_as_csv(results.query("SELECT * FROM " + name));
    with_rows += std::ranges::count(rows, '\n') > 1;
    if (fs::exists(directory_ / file)) EXPECT_EQ(rows, content(file)) << name;
    else EXPECT_EQ(std::ranges::count(rows, '\n'), 1) << name << " has rows, and no file";
  }
  EXPECT_GE(with_rows, 3U) << "bursts, queue, counters";
  EXPECT_EQ(rows_as_csv(results.query("SELECT value, unit FROM counters WHERE counter = "
                                      "'received' AND program = 'switch'")),
            "value,unit\n12,packets\n");
  EXPECT_EQ(rows_as_csv(results.query("SELECT value FROM counters WHERE counter = 'copied'")),
            "value\n0\n")
      << "counted, and none";
  EXPECT_EQ(
      rows_as_csv(results.query("SELECT label, seed FROM cases JOIN arms USING (arm, label)")),
      "label,seed\n\"on, \"\"lead 8\"\"\",1\n");
}

// Tables have all that metrics are made of: see tests/docs/test_metrics_by_query.py.
TEST_F(BundleTest, FlowsRequestsAndQueuePairsHaveRowsOfTheirOwn) {
  RunResult r = make_result(10);
  r.traffic.roce.cnps_sent = 7;
  tg::FlowGroupReport flows;
  flows.name = "mice";
  flows.arrivals = 2;
  flows.records = {{.from = "a",
                    .to = "b",
                    .bytes = 9,
                    .arrival_ns = 4,
                    .delivered_ns = 6,
                    .slowdown_milli = 1500},
                   {.from = "b", .to = "a", .bytes = 8, .arrival_ns = 5}};
  r.traffic.flow_groups = {flows};
  tg::RequestReport requests;
  requests.name = "ask";
  requests.closed = 3;
  requests.samples = {{.answered_ns = 8, .latency_ns = 2}};
  r.traffic.requests = {requests};
  tg::LearnerReport learner;
  learner.least_loss = 0.25;
  learner.losses = {{.at_ns = 3, .gradients = 4, .loss = 0.5}};
  r.traffic.learners = {learner};
  add_run(std::move(r));
  case_.observed.flows = case_.observed.requests = 10;
  write();
  const ResultsReader results(directory_ / kDatabaseFile);
  const auto rows = [&](const std::string& sql) { return rows_as_csv(results.query(sql)); };
  EXPECT_EQ(rows("SELECT [group], sender, bytes, delivered_ns, slowdown FROM flow_records"),
            "group,sender,bytes,delivered_ns,slowdown\nmice,a,9,6,1.5\nmice,b,8,,\n");
  EXPECT_EQ(rows("SELECT pair, answered_ns, latency_ns FROM requests"),
            "pair,answered_ns,latency_ns\nask,8,2\n");
  EXPECT_EQ(rows("SELECT least_loss, target_loss, target_ns FROM learners"),
            "least_loss,target_loss,target_ns\n0.25,,\n");
  EXPECT_EQ(rows("SELECT gradients, loss FROM losses"), "gradients,loss\n4,0.5\n");
  EXPECT_EQ(rows("SELECT part, of, counter, value FROM counters WHERE value > 0 AND "
                 "(part = 'roce' OR of IN ('mice', 'ask'))"),
            "part,of,counter,value\nroce,,cnps_sent,7\n,mice,arrivals,2\n,ask,closed,3\n");
  EXPECT_TRUE(fs::exists(directory_ / "flow_records.csv"));
  experiment_.runs.clear();
  case_.observed = {};
  add_run(make_result(10));
  write();
  EXPECT_FALSE(fs::exists(directory_ / "flow_records.csv")) << "nobody asked for them";
}

// The session that made results and a later command must say the same of them.
TEST_F(BundleTest, TheDatabaseSaysWhatTheSessionSays) {
  add_run(make_result(1000));
  experiment_.question = "Which?";
  experiment_.planned_cases = 3;
  Summary made = summarise(experiment_);
  ArmSummary other = made.arms.front();
  other.label = other.name = "on-other";
  other.role = ArmRole::kRemedy;
  other.parameters = {{"text", std::string("x")},
                      {"empty", std::string()},
                      {"whole", std::int64_t{2}},
                      {"real", 0.25},
                      {"none", std::monostate{}}};
  other.cases.clear();
  other.against = "off-own";
  other.beside = {"workers 3 instead of 2"};
  other.beside_off = {"protocol roce instead of tcp"};
  other.metrics = {{"communication_seconds_median", {0.5, 0.25, 0.75}, {-0.5, -0.625, -0.125}}};
  other.against_off = {{"communication_seconds_median", {0.5, 0.25, 0.75}, {-0.25, -0.5, 0.1}}};
  other.groups = {{"storage", {{"share", {0.125, 0.1, 0.2}, {0.5, 0.25, 0.75}}}}};
  other.collectives = {{"b", "ring", 8, 1e6, 0.5, 1e9, kNotDefined}};
  made.arms.push_back(other);
  made.advice = {"a: b"};
  made.warnings.push_back({"on-other", 0, 2, "iterations never completed"});
  write_bundle(directory_, experiment_, made);
  const Results read = read_results(open_results(directory_));
  EXPECT_EQ(brief_text(read), brief_text(made));
  EXPECT_EQ(read.planned_cases, 3U);
  const TableRequest all{
      .form = TableForm::kCsv,
      .columns = {"communication_seconds_median:range", "communication_seconds_median:change"}};
  EXPECT_EQ(column_table(read, all), column_table(made, all));
  ASSERT_EQ(read.arms.size(), made.arms.size());
  EXPECT_EQ(read.arms.back().parameters, other.parameters);
  ASSERT_EQ(read.arms.back().groups.size(), 1U);
  EXPECT_EQ(read.arms.back().groups[0].figures.at(0).change.high, 0.75);
  EXPECT_EQ(collective_table(read, {}), collective_table(made, {}));
  EXPECT_TRUE(read.arms.front().collectives.empty());
}

TEST_F(BundleTest, EqualResultsGiveEqualDatabases) {
  add_run(make_result(10));
  write();
  const std::string first = content(kDatabaseFile);
  write();
  EXPECT_EQ(content(kDatabaseFile), first);
  for (const auto& file : fs::directory_iterator(directory_))
    EXPECT_NE(file.path().extension(), ".partial") << file.path();
}

TEST_F(BundleTest, AReaderOfTheDatabaseCannotWrite) {
  write();
  const ResultsReader results(directory_ / kDatabaseFile);
  const auto fault = [&](std::string_view sql) -> std::string {
    try {
      static_cast<void>(rows_as_csv(results.query(sql)));
    } catch (const QueryError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(fault("DELETE FROM cases"), "only a query gives rows");
  EXPECT_EQ(fault("DELETE FROM cases RETURNING label"), "attempt to write a readonly database");
  EXPECT_EQ(fault("SELECT 1; DELETE FROM cases"),
            "one statement at a time, without \" DELETE FROM cases\"");
  EXPECT_EQ(fault(""), "only a query gives rows");
  EXPECT_EQ(fault("SELECT labl FROM cases"), "no such column: labl");
}

TEST(RunTables, HaveColumnsOfTheirOwnNames) {
  for (const RunTable& table : run_tables()) {
    std::set<std::string> names;
    for (const TableColumn& column : all_columns(table))
      EXPECT_TRUE(names.insert(column.name).second)
          << table.name << " has " << column.name << " twice";
    EXPECT_FALSE(table.help.empty()) << table.name;
  }
}

TEST_F(BundleTest, MayBeWrittenAgainAsRunsEnd) {
  write();  // interrupted before the first one
  EXPECT_EQ(lines("bursts.csv").size(), 1U) << "the header";
  add_run(make_result(10));
  add_run({});  // and one that left nothing
  write();
  EXPECT_EQ(nlohmann::json::parse(content("summary.json")).at("cases").size(), 2U);
}

TEST_F(BundleTest, BurstsJoinGeneratorAndSwitch) {
  RunResult r = make_result(200);
  BurstRecord& first = add_burst(r, 0, 0, {.due = 100, .first = 101, .delivered = 140});
  first.delivered_bytes = 90'000;
  first.lost_bytes = 4;
  first.unsent_bytes = 5;
  auto& times = first.times.emplace();
  times[BurstTime::kSerialisation] = 9 * kMs;
  times[BurstTime::kHeld] = 31 * kMs;
  add_burst(r, 0, 1, {.due = 150});  // the queue never saw it
  auto& queue = add_queue_burst(r, 0, 0, 102, 7, 50);
  queue.packets = 70;
  queue.last_at_ns = 139 * kMs;
  add_queue_burst(r, 5, 0, 90, 1, 2);  // only the queue saw it
  add_run(r);
  experiment_.runs[0].alone = make_result(1);
  add_burst(*experiment_.runs[0].alone, 0, 0, {.due = 1, .first = 2, .delivered = 3});
  write();
  const auto all = lines("bursts.csv");
  ASSERT_EQ(all.size(), 5U);
  for (const auto& line : all) EXPECT_EQ(commas(line), commas(all[0])) << line;
  const std::string on = "0,\"on, \"\"lead 8\"\"\",1,measured,";
  EXPECT_EQ(all[1], on + "0,0,0,push,100000,100000000,,,,101000000,140000000,0,0,0,90000,4,5,"
                         "0,0,9000000,0,0,0,0,0,0,0,31000000,102000000,139000000,7,0,0,0,50,70,0");
  EXPECT_EQ(all[2], on + "0,0,1,push,100000,150000000,,,,,,0,0,0,0,0,0" + std::string(20, ','));
  EXPECT_EQ(all[3], on + "0,5,0,push" + std::string(25, ',') + "90000000,0,1,0,0,0,2,0,0");
  EXPECT_TRUE(all[4].find(",alone,0,0,0,push,") != std::string::npos) << all[4];
}

TEST_F(BundleTest, QueueIsFineAroundBurstsAndCoarseElsewhere) {
  // Base RTT 1 ms: bins are kept from 480 to 560 inclusive.
  RunResult r = make_result(1000);
  add_burst(r, 0, 0, {.due = 500, .first = 500, .delivered = 540});
  auto& bins = queue_of(r).bins;
  for (auto& bin : bins) {
    bin.bytes[TrafficClass::kBackground] = 10;
    bin.max_packets = 3;
    bin.min_threshold_packets = 40;
  }
  bins[50].max_packets = 33;
  bins[60].min_threshold_packets = 10;
  for (const std::size_t i : {0U, 70U, 480U}) bins[i].min_threshold_packets = 0;  // no arrival
  deliver(r, TrafficClass::kBackground, 0, 1000, 9);
  add_run(r);
  write();
  const auto all = lines("queue.csv");
  // 480 bins before in 5 lines, 81 alone, 439 after in 5.
  ASSERT_EQ(all.size(), 1U + 5 + 81 + 5);
  const std::string name = "0,\"on, \"\"lead 8\"\"\",1,measured,";
  EXPECT_EQ(all[1], name + "0,100000000,1000,0,0,0,33,10,900,0,0");
  EXPECT_EQ(all[6], name + "480000000,1000000,10,0,0,0,3,,9,0,0");
  EXPECT_EQ(all.back(), name + "961000000,39000000,390,0,0,0,3,40,351,0,0");
}

TEST_F(BundleTest, QueueAndGoodputAreAlignedInLoopback) {
  RunResult r = make_result(100);
  add_burst(r, 0, 0, {.due = 50, .first = 50, .delivered = 60});
  add_queue_burst(r, 0, 0, 57, 0, 0);  // the switch's clock is 7 ms ahead
  deliver(r, TrafficClass::kDdl, 50, 60, 8);
  add_run(r);
  experiment_.runtime = Runtime::kLoopback;
  write();
  const auto all = lines("queue.csv");
  const auto begins = [&all](const std::string& begin) {
    return std::ranges::find_if(all, [&](const std::string& line) {
      return line.find(",measured," + begin + ",") != std::string::npos;
    });
  };
  ASSERT_NE(begins("57000000"), all.end());
  EXPECT_TRUE(begins("57000000")->ends_with(",8,0")) << *begins("57000000");
  EXPECT_TRUE(begins("56000000")->ends_with(",0,0")) << *begins("56000000");
}

TEST_F(BundleTest, SaysWhatItCannotWrite) {
  std::ofstream(directory_) << "a file where the directory should be";
  try {
    write();
    FAIL() << "wrote into a file";
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find(directory_.string()), std::string::npos) << e.what();
  }
}

// A run of hours ended at a pipe in the place of its summary.
TEST_F(BundleTest, SaysBeforehandWhatItCouldNotWrite) {
  fs::create_directories(directory_);
  EXPECT_EQ(why_no_bundle(directory_), "");
  ASSERT_EQ(mkfifo((directory_ / "summary.json").c_str(), 0600), 0);
  EXPECT_EQ(why_no_bundle(directory_), (directory_ / "summary.json").string() +
                                           " is a device or a pipe, which a file would replace");
  fs::remove(directory_ / "summary.json");
  fs::create_directories(directory_ / "flows.csv");
  EXPECT_EQ(why_no_bundle(directory_),
            (directory_ / "flows.csv").string() + " is a directory; name a file");
}

}  // namespace
}  // namespace outrider::bundle_test
