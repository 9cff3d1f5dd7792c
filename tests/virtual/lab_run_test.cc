// Goal: a case gives the same reports, byte for byte, whenever it runs. All its packets
// are accounted for, and it can be stopped.
#include <gtest/gtest.h>

#include <string>

#include "common/dpdk/mempool.h"
#include "switch/report/report_json.h"
#include "tests/support/source_path.h"
#include "tools/lab/front/front_result.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/run/run_cases.h"
#include "tools/lab/simulation/run_virtual.h"
#include "trafficgen/report/report_json.h"

namespace outrider::lab_run_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using namespace std::chrono_literals;

class LabRun : public testing::Test {
 protected:
  LabRun() {
    const auto file = load_experiment(source_path("conf/experiments/quick.toml"));
    cases_ = make_plan(file.config.value(), {.seeds = 2}).config.value();
    std::uint32_t buffers = 0;
    for (const auto& c : cases_) buffers = std::max(buffers, buffers_needed(c));
    pool_ = make_packet_pool(
        {.name = "lab-run", .mbufs = buffers, .frame_room_bytes = kHeaderRoomBytes});
  }

  const Case& find(const std::string& label, std::uint64_t seed) const {
    for (const auto& c : cases_)
      if (c.label == label && c.seed == seed) return c;
    throw std::runtime_error("no case " + label);
  }

  RunResult run(const Case& c, const StopCheck& stop = {}) { return run_virtual(c, *pool_, stop); }

  static std::string text(const RunResult& r) { return to_json(r.switches) + to_json(r.traffic); }

  std::vector<Case> cases_;
  Mempool pool_;
};

TEST_F(LabRun, SameSeedGivesTheSameReports) {
  const std::string first = text(run(find("on", 1)));
  run(find("off", 2));  // an earlier run must have no effect
  EXPECT_EQ(text(run(find("on", 1))), first);
  EXPECT_NE(text(run(find("on", 2))), first);
}

TEST_F(LabRun, EveryPacketIsAccountedFor) {
  for (const auto& c : cases_) {
    const RunResult r = run(c);
    EXPECT_TRUE(r.switches.ledger_balanced) << c.label;
    EXPECT_TRUE(r.traffic.ledger_balanced) << c.label;
    EXPECT_TRUE(r.traffic.jobs_finished) << c.label;
    EXPECT_EQ(r.mbufs_leaked, 0U) << c.label;
    EXPECT_EQ(r.traffic.mbuf_exhausted, 0U) << c.label << ": buffers_needed() is too small";
  }
}

TEST_F(LabRun, AFrontComparesEverySettingWithOff) {
  const Case& off = find("off", 1);
  Case other = off;  // without a regulator, but with another minimum RTO
  other.label = "off-rto";
  other.parameters.emplace_back("transport.min_rto", std::string("1ms"));
  std::vector<CaseRun> runs;
  runs.push_back({&off, run(off), {}});
  runs.push_back({&other, run(find("on", 1)), {}});
  FrontResult result{.experiment = "quick", .question = "?", .settings = {}};
  result.candidates = {{.system = "off", .label = "off"}, {.system = "rto", .label = "off-rto"}};
  std::vector<RunDigest> digests;
  digests.reserve(runs.size());
  for (const auto& r : runs) digests.push_back(digest(r, Runtime::kVirtual, Flagged::kKept));
  take_samples(std::vector<const RunDigest*>{&digests[0], &digests[1]}, result);
  ASSERT_EQ(result.candidates[1].samples.size(), 1U);
  EXPECT_EQ(result.candidates[0].samples[0].lost_bytes, 0);
  EXPECT_NE(result.candidates[1].samples[0].lost_bytes, 0) << "compared with itself";
}

TEST_F(LabRun, FixedScheduleRunsToTheEndOfItsLastPeriod) {
  for (const auto& label : {"off", "on"}) {
    const RunResult r = run(find(label, 1));
    EXPECT_EQ(r.traffic.end_ns, Duration(1s + 3 * 500ms).count()) << "warm-up and three periods";
    EXPECT_EQ(r.switches.end_ns, r.traffic.end_ns);
  }
}

TEST_F(LabRun, LimitEndsARunThatDoesNotFinish) {
  Case c = find("off", 1);
  for (auto& [name, value] : c.parameters)
    if (name == "limit_seconds") value = 1.2;
  const RunResult r = run(c);
  EXPECT_EQ(r.traffic.end_ns, Duration(1200ms).count());
  EXPECT_FALSE(r.traffic.jobs_finished);
  EXPECT_FALSE(r.interrupted);
  EXPECT_EQ(r.mbufs_leaked, 0U);
}

TEST_F(LabRun, StopsBetweenSlices) {
  int asked = 0;
  const RunResult r = run(find("on", 1), [&] { return ++asked > 5; });
  EXPECT_TRUE(r.interrupted);
  EXPECT_LT(r.traffic.end_ns, Duration(1s).count());
  EXPECT_TRUE(r.switches.ledger_balanced);
  EXPECT_EQ(r.mbufs_leaked, 0U);
}

TEST_F(LabRun, AloneHasNoBackgroundAndIsFaster) {
  const Case& c = find("off", 1);
  const RunResult alone = run(without_background(c));
  for (const auto& flow : alone.traffic.flows)
    EXPECT_NE(flow.traffic_class, TrafficClass::kBackground);
  const RunResult shared = run(c);
  ASSERT_EQ(alone.traffic.bursts.size(), shared.traffic.bursts.size());
  const auto took = [](const BurstRecord& b) { return b.delivered_ns - b.first_sent_ns; };
  for (std::size_t i = 0; i < alone.traffic.bursts.size(); ++i) {
    if (alone.traffic.bursts[i].identity.direction != BurstDirection::kPush) continue;
    EXPECT_LT(took(alone.traffic.bursts[i]), took(shared.traffic.bursts[i]));
  }
}

TEST_F(LabRun, ResultsSurviveTheWayFromWorkerToParent) {
  const Case& c = find("on", 1);
  CaseRun sent{.definition = &c, .result = run(c), .alone = run(without_background(c))};
  sent.result.mbufs_leaked = 3;
  const CaseRun received = deserialize(c, serialize(sent));
  EXPECT_EQ(text(received.result), text(sent.result));
  ASSERT_TRUE(received.alone);
  EXPECT_EQ(text(*received.alone), text(*sent.alone));
  EXPECT_EQ(received.result.mbufs_leaked, 3U);
  EXPECT_FALSE(received.switch_toml.empty());
  EXPECT_THROW(deserialize(c, serialize(sent).substr(0, 1000)), std::runtime_error);
}

}  // namespace
}  // namespace outrider::lab_run_test
