// Goal: our switch shortens a queue that is not its own, end to end, and holds nobody where it
// cannot or for longer than it must. Method: whole runs in virtual time of
// conf/experiments/beyond.toml with fewer bursts; arms share seeds.
#include <gtest/gtest.h>

#include <functional>
#include <sstream>
#include <string>

#include "common/dpdk/packet/mempool.h"
#include "switch/report/report_text.h"
#include "tests/support/source_path.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/simulation/run_virtual.h"

namespace outrider::beyond_effect_test {
using namespace sw;
using namespace lab;
namespace {

struct Figures {
  double start_packets = 0;  ///< background that a burst's first packet finds at the bottleneck
  double communication_ms = 0;
  double background_mbit = 0;  ///< delivered, over the whole run
  RemoteCounts beyond{};       ///< of the top-of-rack switch
  std::string text;            ///< of the switches' report
};

class BeyondEffect : public testing::Test {
 protected:
  using Change = std::function<void(CaseParameters&)>;

  template <class T>
  static void set(CaseParameters& p, const char* key, T value) {
    ASSERT_TRUE(assign(p.settings, key, ConfigValue(std::move(value))));
  }

  Figures run(LabOutside outside, const Change& change = {}) const {
    Figures sums;
    constexpr std::uint64_t kSeeds = 3;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      CaseParameters p = file_.parameters;
      set(p, "job.iterations", std::int64_t{4});
      p.skip_iterations = 1;
      p.warm_up_seconds = 2;
      set(p, "job.period", std::string("1s"));
      p.outside = outside;
      set(p, "switch.regulation.mode",
          std::string(outside == LabOutside::kOthers ? "off" : "window"));
      if (change) change(p);
      settle(p, file_.network.rtt);
      ConfigIssues issues;
      const auto c = build_case(file_, "on", p, seed, issues);
      EXPECT_TRUE(issues.empty()) << (issues.empty() ? "" : issues.front().problem);
      add(sums, *c, kSeeds);
    }
    return sums;
  }

  ExperimentFile file_ =
      load_experiment(source_path("conf/experiments/beyond.toml")).config.value();

 private:
  static void add(Figures& sums, const Case& c, std::uint64_t seeds) {
    const Mempool pool = make_packet_pool(
        {.name = "beyond", .mbufs = buffers_needed(c), .frame_room_bytes = kHeaderRoomBytes});
    const RunResult r = run_virtual(c, *pool, {});
    EXPECT_TRUE(r.switches.ledger_balanced && r.traffic.ledger_balanced);
    EXPECT_TRUE(r.traffic.jobs_finished);
    for (const auto& q : r.switches.queues) {
      if (q.switch_name == "tor" && q.port_name == "to_core") sums.beyond = q.beyond;
      double bursts = 0, found = 0;
      for (const auto& b : q.bursts) {
        if (b.identity.iteration == 0) continue;
        ++bursts;
        found += b.start_packets[TrafficClass::kBackground];
      }
      if (bursts > 0) sums.start_packets += found / bursts / static_cast<double>(seeds);
    }
    double bytes = 0;
    for (const auto& bin : r.traffic.bins)
      bytes += static_cast<double>(bin.delivered_bytes[TrafficClass::kBackground]);
    sums.background_mbit +=
        bytes * 8e3 / static_cast<double>(r.traffic.end_ns) / static_cast<double>(seeds);
    double bursts = 0, total_ms = 0;
    for (const auto& b : r.traffic.bursts) {
      if (b.identity.iteration == 0) continue;
      ++bursts;
      total_ms += static_cast<double>(b.delivered_ns - b.due_ns) / 1e6;
    }
    sums.communication_ms += total_ms / bursts / static_cast<double>(seeds);
    std::ostringstream text;
    print_summary(text, r.switches);
    sums.text = text.str();
  }
};

TEST_F(BeyondEffect, TheQueueOfAnotherSwitchIsShortWhenTheBurstComes) {
  const Figures off = run(LabOutside::kOthers);
  const Figures told = run(LabOutside::kTold);
  RecordProperty("off", std::to_string(off.start_packets));
  RecordProperty("told", std::to_string(told.start_packets));
  EXPECT_GT(off.start_packets, 15) << "or there is nothing to gain";
  EXPECT_LT(told.start_packets, 0.5 * off.start_packets);
  EXPECT_LT(told.communication_ms, 0.6 * off.communication_ms);
  EXPECT_EQ(told.beyond.starts_armed, 4U);
  EXPECT_EQ(told.beyond.entries_left, 0U);
  EXPECT_GT(told.beyond.held, 0U);
  EXPECT_EQ(told.beyond.flows_without_answers, 0U);
  EXPECT_NE(told.text.find("beyond core.to_leaf: armed 4"), std::string::npos) << told.text;
}

// What comes back takes another path: bursts fare as without regulation, and the report says why.
TEST_F(BeyondEffect, HoldsNothingAndSaysSoIfAcksTakeAnotherPath) {
  const auto apart = [](CaseParameters& p) { p.paths = LabPaths::kApart; };
  const Figures off = run(LabOutside::kOthers, apart);
  const Figures told = run(LabOutside::kTold, apart);
  EXPECT_EQ(told.communication_ms, off.communication_ms);
  EXPECT_EQ(told.start_packets, off.start_packets);
  EXPECT_EQ(told.beyond.starts_armed, 4U);
  EXPECT_EQ(told.beyond.held, 0U);
  EXPECT_EQ(told.beyond.rewritten, 0U);
  EXPECT_EQ(told.beyond.flows_without_answers, 3U) << "each flow once";
  EXPECT_NE(told.text.find("3 flows cannot be held: their ACKs do not come back"),
            std::string::npos)
      << told.text;
}

// Announced bursts that never come, each forged: flows are held for as long as entries and the
// budget last, and what the job's own bursts leave of the time is background's again.
TEST_F(BeyondEffect, NobodyStaysHeldForForgedBursts) {
  const auto forged = [](CaseParameters& p) {
    set(p, "job.announce.faults.forged_per_second", 5.0);
  };
  const Figures told = run(LabOutside::kTold, forged);
  EXPECT_GT(told.beyond.starts_armed, 4U);
  EXPECT_LE(told.beyond.entries_left, 2U) << "the last ones have not expired yet";
  const Figures honest = run(LabOutside::kTold);
  EXPECT_GT(told.background_mbit, 0.8 * honest.background_mbit);
}

// Nobody but the top-of-rack switch knows of windows, so a port that hears no bottleneck named
// does nothing for it: what gains is what it was told.
TEST_F(BeyondEffect, WithoutBeingToldNothingIsHeldForIt) {
  const Figures untold = run(LabOutside::kOthers, [](CaseParameters& p) {
    set(p, "switch.regulation.mode", std::string("window"));
  });
  EXPECT_EQ(untold.beyond.starts_armed, 0U);
  EXPECT_EQ(untold.text.find("beyond"), std::string::npos);
}

}  // namespace
}  // namespace outrider::beyond_effect_test
