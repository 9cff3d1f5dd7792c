// Goal: a run is a function of its configuration and seed, and an entity's random draws
// do not depend on the other entities.
#include <gtest/gtest.h>

#include "common/core/hash_key.h"
#include "switch/report/report_json.h"
#include "tests/support/simulation.h"
#include "trafficgen/report/report_json.h"

namespace outrider::determinism_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::milliseconds;

Dumbbell varied(std::uint64_t seed) {
  Dumbbell d;
  d.seed = seed;
  d.workers = 2;
  d.job.pull = true;
  d.job.burst_bytes = 100'000;
  d.job.schedule = Schedule::kClosedLoop;
  d.job.first_due = milliseconds(200);
  d.job.period = {};
  d.job.compute = milliseconds(20);
  d.job.compute_jitter = 0.3;
  d.bottleneck_port.regulation.mode = RegulationMode::kMark;
  return d;
}

std::string text_of(const RunResult& r) { return to_json(r.switches) + to_json(r.traffic); }

TEST(Determinism, EqualSeedsGiveEqualReportsByteForByte) {
  const Mempool pool = make_test_pool(), other_pool = make_test_pool(20'000);
  const std::string first = text_of(run(varied(7), *pool));
  EXPECT_EQ(text_of(run(varied(7), *pool)), first) << "buffers used before";
  EXPECT_EQ(text_of(run(varied(7), *other_pool)), first) << "another pool";
  EXPECT_NE(text_of(run(varied(8), *pool)), first);
}

// Goal: the secret of the hash tables changes nothing, because nobody visits a table in the
// order of its slots.
TEST(Determinism, TheKeyOfTheTablesDoesNotMatter) {
  const Mempool pool = make_test_pool();
  const std::string first = text_of(run(varied(7), *pool));
  ProcessHashKey::set({{1, 2, 3, 4}});
  const std::string second = text_of(run(varied(7), *pool));
  ProcessHashKey::set(kPublicHashKey);
  EXPECT_EQ(second, first);
}

// The number of steps in which the caller advances time changes nothing.
TEST(Determinism, StepsOfTheLoopDoNotMatter) {
  const Mempool pool = make_test_pool();
  const auto text_with_step = [&pool](Duration step) {
    const Dumbbell d = varied(3);
    Simulation simulation(d.switches(), d.traffic(), *pool);
    while (simulation.now() < Time{} + milliseconds(600))
      simulation.run_until(simulation.now() + step);
    return text_of(simulation.result());
  };
  EXPECT_EQ(text_with_step(milliseconds(600)), text_with_step(std::chrono::microseconds(40)));
}

// Goal: what a packet's metadata say of its headers is what its bytes say, whatever switches have
// changed on the way. Method: the same run, in which receivers must read the bytes.
TEST(Determinism, KnownHeadersChangeNothing) {
  const Mempool pool = make_test_pool();
  std::uint64_t forgotten = 0;
  const auto text = [&](const Dumbbell& d, bool forget) {
    ImpairedSimulation simulation(d, *pool);
    for (const auto& host : d.traffic().hosts) {
      simulation.from(host.name).set_rule([forget, &forgotten](const SeenPacket&) {
        forgotten += forget;
        return Fate{.forget_headers = forget};
      });
    }
    simulation.run_until(Time{milliseconds(600)});
    return text_of(simulation.result());
  };
  for (const RegulationMode mode : {RegulationMode::kMark, RegulationMode::kWindow}) {
    for (const bool timestamps : {false, true}) {
      Dumbbell d = varied(9);
      d.bottleneck_port.regulation.mode = mode;
      d.bottleneck_port.regulation.recovery = outrider::Recovery::kBurstEnd;
      d.background_tcp.timestamps = timestamps;
      EXPECT_EQ(text(d, false), text(d, true)) << static_cast<int>(mode);
    }
  }
  EXPECT_GT(forgotten, 10'000U);
}

TEST(Determinism, ASilentHostChangesNobodysDraws) {
  const Mempool pool = make_test_pool();
  const Dumbbell d = varied(5);
  SwitchProcessConfig switches = d.switches();
  GeneratorConfig traffic = d.traffic();
  SwitchPortConfig port = switches.switches[0].ports[0];
  port.name = "silent";
  switches.switches[0].ports.push_back(port);
  switches.switches[0].routes.push_back({"10.0.9.1/32", "silent"});
  HostConfig host = traffic.hosts[0];
  host.name = "silent";
  host.address = "10.0.9.1";
  traffic.hosts.push_back(host);
  const auto limit = Time{} + std::chrono::seconds(10);
  const RunResult with = run(switches, traffic, *pool, limit);
  const RunResult without = run(d, *pool, limit);
  EXPECT_EQ(to_json(with.traffic), to_json(without.traffic));
  ASSERT_EQ(with.switches.queues.size(), without.switches.queues.size() + 1);
  SwitchReport a, b;
  a.queues = {bottleneck_of(with)};
  b.queues = {bottleneck_of(without)};
  EXPECT_EQ(to_json(a), to_json(b));
}

}  // namespace
}  // namespace outrider::determinism_test
