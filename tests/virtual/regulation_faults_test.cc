// Goal: if packets are lost, repeated, late or forged, a regulated queue still returns to
// idle, the burst is sent, and no other queue is affected. Method: whole simulations in virtual
// time with impairments on the hosts' wires. Each test also checks that the impairment hit
// the intended packets.
#include "tests/virtual/regulation_faults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "tests/support/simulation.h"

namespace outrider::regulation_faults_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

TEST_F(RegulationFaults, LostStartIsSentAnyway) {
  Dumbbell d = regulated();
  ImpairedSimulation simulation(d, *pool_);
  simulation.from("w0").set_rule([](const SeenPacket& p) { return Fate{.drop = p.is_start()}; });
  const RunResult r = settle(simulation);
  EXPECT_EQ(simulation.from("w0").dropped(), kFaultIterations);
  EXPECT_EQ(r.traffic.ack_timeouts, kFaultIterations);
  EXPECT_EQ(bottleneck_of(r).starts_armed, 0U);
  EXPECT_EQ(bottleneck_of(r).regulated_ns, 0);
  for (const auto& b : r.traffic.bursts) {
    EXPECT_TRUE(b.ack_timed_out);
    EXPECT_EQ(b.released_ns, b.due_ns + d.job.announce.ack_timeout.count());
    EXPECT_NE(b.delivered_ns, kNotYet_ns);
  }
}

// START has armed the switches. Regulation lasts until the late burst arrives.
TEST_F(RegulationFaults, LostAckIsSentAnywayAndEndsRegulation) {
  const Dumbbell d = regulated();
  ImpairedSimulation simulation(d, *pool_);
  simulation.to("w0").set_rule([](const SeenPacket& p) { return Fate{.drop = p.is_start_ack()}; });
  const RunResult r = settle(simulation);
  EXPECT_EQ(simulation.to("w0").dropped(), kFaultIterations);
  EXPECT_EQ(r.traffic.ack_timeouts, kFaultIterations);
  const QueueReport& q = bottleneck_of(r);
  EXPECT_EQ(q.starts_armed, kFaultIterations);
  EXPECT_EQ(q.recovered_arrival, kFaultIterations);
  const auto held = kFaultIterations * d.job.announce.ack_timeout.count();
  EXPECT_NEAR(static_cast<double>(q.regulated_ns), static_cast<double>(held),
              0.05 * static_cast<double>(held));
}

TEST_F(RegulationFaults, RepeatedStartArmsOnce) {
  ImpairedSimulation simulation(regulated(), *pool_);
  simulation.from("w0").set_rule(
      [](const SeenPacket& p) { return Fate{.copies = p.is_start() ? 3U : 0U}; });
  const RunResult r = settle(simulation);
  EXPECT_EQ(bottleneck_of(r).starts_armed, kFaultIterations);
  EXPECT_EQ(bottleneck_of(r).starts_repeated, 3 * kFaultIterations);
  EXPECT_EQ(bottleneck_of(r).recovered_arrival, kFaultIterations);
  EXPECT_EQ(r.traffic.acks_sent, 4 * kFaultIterations);
  EXPECT_EQ(r.traffic.ack_timeouts, 0U);
}

// One copy arrives after the burst has begun, another after the burst has ended.
TEST_F(RegulationFaults, StartOvertakenByItsBurstArmsNothing) {
  for (const Duration late : {kFaultLead + milliseconds(5), kFaultLead + milliseconds(200)}) {
    ImpairedSimulation simulation(regulated(), *pool_);
    simulation.from("w0").set_rule([late](const SeenPacket& p) {
      return Fate{.copies = p.is_start() ? 1U : 0U, .copies_delay = late};
    });
    const RunResult r = settle(simulation);
    const QueueReport& q = bottleneck_of(r);
    EXPECT_EQ(q.starts_armed, kFaultIterations);
    EXPECT_EQ(q.starts_repeated, kFaultIterations);
    EXPECT_LT(Duration{q.regulated_ns}, kFaultIterations * (kFaultLead + milliseconds(2)));
  }
}

// The worker stops right after its START, and the entry expires.
TEST_F(RegulationFaults, DeadWorkerExpires) {
  const Dumbbell d = regulated();
  for (const auto recovery : {Recovery::kArrival, Recovery::kBurstEnd, Recovery::kTimer}) {
    Dumbbell variant = d;
    variant.bottleneck_port.regulation.recovery = recovery;
    ImpairedSimulation simulation(variant, *pool_);
    bool dead = false;
    simulation.from("w0").set_rule([&dead](const SeenPacket& p) {
      const bool drop = dead;
      dead = dead || p.is_start();
      return Fate{.drop = drop};
    });
    const RunResult r = settle(simulation, /*expect_end=*/false);
    const QueueReport& q = bottleneck_of(r);
    EXPECT_EQ(q.starts_armed, 1U);
    EXPECT_GT(simulation.from("w0").dropped(), 0U);
    const auto& policy = variant.bottleneck_port.regulation;
    if (recovery == Recovery::kTimer) {
      EXPECT_EQ(q.recovered_timer, 1U);
      EXPECT_EQ(Duration{q.regulated_ns}, policy.hold);
    } else {
      EXPECT_EQ(q.expired, 1U);
      EXPECT_EQ(Duration{q.regulated_ns}, policy.expiry);
    }
  }
}

// The worker dies during its burst. Regulation until the end of the burst ends by idleness.
TEST_F(RegulationFaults, WorkerThatDiesInItsBurstEndsByIdleness) {
  Dumbbell d = regulated();
  d.bottleneck_port.regulation.recovery = Recovery::kBurstEnd;
  ImpairedSimulation simulation(d, *pool_);
  std::uint32_t data = 0;
  simulation.from("w0").set_rule([&data](const SeenPacket& p) {
    data += p.payload_bytes > 0;
    return Fate{.drop = data > 20};
  });
  const RunResult r = settle(simulation, /*expect_end=*/false);
  EXPECT_EQ(bottleneck_of(r).starts_armed, 1U);
  EXPECT_EQ(bottleneck_of(r).recovered_burst_end, 1U);
  EXPECT_GT(data, 21U) << "it tried again, in vain";
}

// The queue uses the lowest requested threshold. The threshold rises when the strictest job
// is done, while the other still waits.
TEST_F(RegulationFaults, TwoJobsComposeByMinimumAndRiseAgain) {
  Dumbbell d = regulated();
  d.workers = 2;
  GeneratorConfig traffic = d.traffic();
  JobConfig strict = traffic.jobs[0], mild = traffic.jobs[0];
  strict.workers = {"w0"};
  mild.name = "mild";
  mild.workers = {"w1"};
  mild.tcp_port = 5001;
  mild.announce.threshold_packets = 20;
  mild.announce.lead = milliseconds(60);  // outlives the strict one
  strict.iterations = mild.iterations = 1;
  traffic.jobs = {strict, mild};
  ImpairedSimulation simulation(d.switches(), traffic, *pool_);
  const RunResult r = settle(simulation);
  const QueueReport& q = bottleneck_of(r);
  EXPECT_EQ(q.starts_armed, 2U);
  EXPECT_EQ(q.recovered_arrival, 2U);
  std::vector<std::uint32_t> levels;  // thresholds of consecutive bins
  for (const auto& bin : q.bins)
    if (bin.min_threshold_packets != 0 &&
        (levels.empty() || levels.back() != bin.min_threshold_packets))
      levels.push_back(bin.min_threshold_packets);
  const std::vector<std::uint32_t> expected{40, 10, 20, 40};
  std::vector<std::uint32_t> known;
  for (const auto level : levels)
    if (level <= 40 && (known.empty() || known.back() != level)) known.push_back(level);
  EXPECT_EQ(known, expected);
}

TEST_F(RegulationFaults, ThresholdCodeZeroIsCountedAndIgnored) {
  ImpairedSimulation simulation(regulated(), *pool_);
  simulation.from("w0").set_rule([](const SeenPacket& p) {
    Fate fate;
    if (p.is_start()) fate.tos = tos_signal::kStartBit;
    return fate;
  });
  const RunResult r = settle(simulation);
  EXPECT_EQ(r.switches.signals_bad_code, 2 * kFaultIterations) << "at either switch";
  EXPECT_EQ(bottleneck_of(r).starts_armed, 0U);
  EXPECT_EQ(r.traffic.ack_timeouts, 0U) << "the server answers";
}

// Between START and burst, the switch sees an old pure ACK and an old data segment of the
// same flow. Neither counts as the burst.
TEST_F(RegulationFaults, PureAcksAndRetransmissionsAreNotTheBurst) {
  Dumbbell d = regulated();
  d.job.announce.lead = milliseconds(50);
  ImpairedSimulation simulation(d, *pool_);
  std::set<std::uint64_t> done;
  simulation.from("w0").set_rule([&done](const SeenPacket& p) {
    // The flow's first pure ACK and first data segment are repeated 20 ms after the second
    // START, which leaves at 0.8 s.
    const std::uint64_t kind = p.is_start() || (p.tcp_flags & kTcpSyn) != 0 ? 0
                               : p.payload_bytes == 0                       ? 1
                                                                            : 2;
    if (kind == 0 || !done.insert(kind).second) return Fate{};
    return Fate{.copies = 1, .copies_delay = Time{milliseconds(820)} - p.at};
  });
  const RunResult r = settle(simulation);
  EXPECT_EQ(done.size(), 2U);
  EXPECT_EQ(simulation.from("w0").copied(), 2U);
  const QueueReport& q = bottleneck_of(r);
  EXPECT_EQ(q.recovered_arrival, kFaultIterations);
  EXPECT_GE(Duration{q.regulated_ns}, kFaultIterations * milliseconds(50))
      << "none of it was cut short";
  EXPECT_LT(Duration{q.regulated_ns}, kFaultIterations * milliseconds(52));
}

// ACKs of the pull cross the regulated queue in the same direction as the push.
TEST_F(RegulationFaults, AcksOfThePullDoNotEndRegulation) {
  Dumbbell d = regulated();
  d.background_flows = 0;
  d.job.pull = true;
  d.job.burst_bytes = 302'000;  // 209 segments, so the last one waits alone
  d.job.schedule = Schedule::kClosedLoop;
  d.job.compute = milliseconds(30);
  d.job.announce.lead_source = LeadSource::kOverlap;
  d.job.announce.lead = milliseconds(25);
  d.ddl_tcp.delayed_ack = milliseconds(10);
  d.ddl_tcp.ack_every_segments = 4;
  ImpairedSimulation simulation(d, *pool_);
  bool armed = false;
  std::uint32_t acks_while_armed = 0;
  simulation.from("w0").set_rule([&](const SeenPacket& p) {
    acks_while_armed += armed && p.payload_bytes == 0 && !p.is_start();
    if (p.is_start()) armed = true;
    if (p.payload_bytes > 0) armed = false;
    return Fate{};
  });
  const RunResult r = settle(simulation);
  EXPECT_GT(acks_while_armed, 0U);
  EXPECT_EQ(bottleneck_of(r).recovered_arrival, kFaultIterations);
  EXPECT_GE(Duration{bottleneck_of(r).regulated_ns}, kFaultIterations * milliseconds(25));
}

// Combines all faults: signals and data are lost, repeated and late.
TEST_F(RegulationFaults, StormOfFaultsAlwaysEndsIdle) {
  std::uint64_t timeouts = 0, repeated = 0, expired = 0, armed = 0, ended = 0;
  for (std::uint64_t seed = 1; seed <= seeds(6, 200); ++seed) {
    Dumbbell d = regulated();
    d.seed = seed;
    d.workers = 3;
    d.job.iterations = 4;
    d.job.burst_bytes = 100'000;
    d.bottleneck_port.regulation.recovery =
        std::array{Recovery::kArrival, Recovery::kBurstEnd, Recovery::kTimer}[seed % 3];
    d.bottleneck_port.regulation.spare_ddl = seed % 2 == 0;
    d.bottleneck_port.regulation.expiry = milliseconds(40);
    d.ddl_tcp.reuse = std::array{ConnectionReuse::kNew, ConnectionReuse::kKeep}[seed % 2];
    ImpairedSimulation simulation(d, *pool_);
    for (const char* host : {"w0", "w1", "w2", "s0"}) {
      const auto entity =
          static_cast<std::uint32_t>(host[1]) * 256U + static_cast<std::uint32_t>(host[0]);
      auto data = random_rule({.loss = 0.01, .duplicate = 0.01, .reorder = 0.02}, seed, entity);
      auto signals =
          random_rule({.loss = 0.3, .duplicate = 0.3, .reorder = 0.3, .late = milliseconds(60)},
                      seed, entity + 1);
      simulation.from(host).set_rule([data, signals](const SeenPacket& p) {
        return p.is_start() || p.is_start_ack() ? signals(p) : data(p);
      });
    }
    const RunResult r = settle(simulation);
    const QueueReport& q = bottleneck_of(r);
    timeouts += r.traffic.ack_timeouts;
    repeated += q.starts_repeated;
    expired += q.expired;
    armed += q.starts_armed;
    ended += q.recovered_arrival + q.recovered_burst_end + q.recovered_timer + q.expired;
  }
  EXPECT_GT(timeouts, 0U);
  EXPECT_GT(repeated, 0U);
  EXPECT_GT(expired, 0U);
  EXPECT_GT(armed, 0U);
  EXPECT_LE(ended, armed);  // a newer iteration replaced the rest
  EXPECT_GT(ended, armed / 2);
}

}  // namespace
}  // namespace outrider::regulation_faults_test
