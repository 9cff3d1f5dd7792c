// Goal: a job over the bounded-loss transport moves its bursts across switches, keeps its
// bound under any loss and ends when a peer is dead, and every packet is accounted for.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/source_path.h"
#include "tests/virtual/mlt_scene.h"

namespace outrider::mlt_job_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr MltConfig kReliable{.tolerance_push = 0, .tolerance_pull = 0};
constexpr Time kLimit = Time{} + std::chrono::seconds(120);

TEST(MltJob, MovesItsBurstsInTheTimeOfTheirBytes) {
  const Mempool pool = make_test_pool();
  const Dumbbell d = mlt_dumbbell(2);
  const RunResult r = run(mlt_switches(d), mlt_traffic(d, kReliable), *pool, kLimit);
  EXPECT_TRUE(r.traffic.jobs_finished);
  ASSERT_EQ(r.traffic.iterations.size(), 6U);
  ASSERT_EQ(r.traffic.bursts.size(), 12U);
  for (const auto& b : r.traffic.bursts) {
    EXPECT_EQ(b.delivered_bytes, 400'000U);
    EXPECT_GE(b.first_sent_ns, b.released_ns);
    EXPECT_GT(b.delivered_ns, b.first_sent_ns);
    EXPECT_EQ(b.rtos, 0U);
  }
  for (const auto& f : r.traffic.flows) EXPECT_EQ(f.delivered_bytes, 1'200'000U) << f.name;
  // Two bursts of 280 packets of 1506 B and gaps at 200 Mbit/s are 34 ms; slow start from
  // ten packets takes some round trips of 3.5 ms.
  for (const double s : completion_seconds(r, BurstDirection::kPush)) {
    EXPECT_GT(s, 0.017);
    EXPECT_LT(s, 0.060);
  }
}

// The switch recognises the bursts of datagrams and has a record of each with all its packets.
TEST(MltJob, TheSwitchRecordsItsBursts) {
  const Mempool pool = make_test_pool();
  const Dumbbell d = mlt_dumbbell(2);
  const RunResult r = run(mlt_switches(d), mlt_traffic(d, kReliable), *pool, kLimit);
  const auto& records = bottleneck_of(r).bursts;
  ASSERT_EQ(records.size(), 6U) << "pushes of two workers, three iterations";
  for (const auto& record : records) {
    EXPECT_EQ(record.identity.direction, BurstDirection::kPush);
    EXPECT_GE(record.packets, 280U);
  }
}

// With p = 0 everything is delivered, even if a fifth of all packets is lost, including answers
// and probes.
TEST(MltJob, WithoutToleranceEveryByteArrives) {
  const Mempool pool = make_test_pool();
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Dumbbell d = mlt_dumbbell(2);
    d.job.burst_bytes = 100'000;
    d.seed = seed;
    ImpairedSimulation simulation(mlt_switches(d), mlt_traffic(d, kReliable), *pool);
    simulation.impair_all({.loss = 0.1, .duplicate = 0.02, .reorder = 0.05, .ce = 0.05}, seed);
    ASSERT_TRUE(simulation.run_to_end(kLimit)) << seed;
    const RunResult r = simulation.result();
    EXPECT_TRUE(r.traffic.jobs_finished);
    ASSERT_EQ(r.traffic.bursts.size(), 12U);
    std::uint64_t lost = 0;
    for (const auto& b : r.traffic.bursts) {
      EXPECT_EQ(b.delivered_bytes, 100'000U) << seed;
      EXPECT_GT(b.retransmitted, 0U);
      lost += b.lost_bytes;
    }
    EXPECT_GT(lost, 100'000U);
    EXPECT_TRUE(simulation.ledger().balanced());
    EXPECT_TRUE(r.traffic.ledger_balanced);
    simulation.flush();
  }
}

TEST(MltJob, KeepsItsBoundUnderLoss) {
  const Mempool pool = make_test_pool();
  constexpr MltConfig kLoose{.tolerance_push = 0.2, .tolerance_pull = 0.05};
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Dumbbell d = mlt_dumbbell(2);
    d.job.burst_bytes = 100'000;
    d.seed = seed;
    ImpairedSimulation simulation(mlt_switches(d), mlt_traffic(d, kLoose), *pool);
    simulation.impair_all({.loss = 0.1}, seed);
    ASSERT_TRUE(simulation.run_to_end(kLimit)) << seed;
    std::uint64_t missing = 0;
    for (const auto& b : simulation.result().traffic.bursts) {
      const bool push = b.identity.direction == BurstDirection::kPush;
      EXPECT_GE(b.delivered_bytes, push ? 80'000U : 95'000U) << seed;
      missing += 100'000 - b.delivered_bytes;
    }
    EXPECT_GT(missing, 50'000U) << "something was done without";
    simulation.flush();
  }
}

// With gradients by tensor, the first layer's parameters come before all others, in whatever
// order gradients arrive.
TEST(MltJob, AnswersTensorByTensor) {
  const Mempool pool = make_test_pool(20'000);
  Dumbbell d = mlt_dumbbell(2);
  d.job.burst_bytes.reset();
  d.job.compute.reset();
  d.job.model = source_path("conf/models/resnet32-cifar.toml");
  d.job.send_policy = SendPolicyKind::kWfbp;
  d.job.policy.granularity = Granularity::kTensor;
  const RunResult r = run(mlt_switches(d), mlt_traffic(d, kReliable), *pool, kLimit);
  EXPECT_TRUE(r.traffic.jobs_finished);
  ASSERT_EQ(r.traffic.iterations.size(), 6U);
  for (const auto& b : r.traffic.bursts) EXPECT_EQ(b.delivered_bytes, 1'856'616U);
  for (const auto& i : r.traffic.iterations) EXPECT_LE(i.first_layer_ns, i.parameters_ns);
}

// From some time on a switch drops everything from one worker. Its probes get no answer, and
// the run ends instead of waiting forever.
TEST(MltJob, ADeadPeerEndsTheJob) {
  const Mempool pool = make_test_pool();
  Dumbbell d = mlt_dumbbell(2);
  d.job.iterations = 1000;
  MltConfig mlt = kReliable;
  mlt.probe_limit = 4;
  ImpairedSimulation simulation(mlt_switches(d), mlt_traffic(d, mlt), *pool);
  simulation.run_until(Time{} + milliseconds(200));
  simulation.from("w1").set_rule([](const SeenPacket&) { return Fate{.drop = true}; });
  ASSERT_TRUE(simulation.run_to_end(kLimit));
  EXPECT_LT(simulation.now(), Time{} + seconds(5));
  const RunResult r = simulation.result();
  EXPECT_FALSE(r.traffic.jobs_finished);
  EXPECT_FALSE(r.traffic.jobs.at(0).finished);
  EXPECT_TRUE(simulation.ledger().balanced());
  simulation.flush();
}

// START as a UDP message names the flow of datagrams and the burst's position in it.
TEST(MltJob, IsAnnouncedByUdp) {
  const Mempool pool = make_test_pool();
  Dumbbell d = mlt_dumbbell(2);
  d.job.announce = {
      .lead_source = LeadSource::kWait, .lead = milliseconds(5), .signal_form = SignalForm::kUdp};
  d.bottleneck_port.regulation.mode = RegulationMode::kMark;
  d.bottleneck_port.regulation.recovery = outrider::Recovery::kArrival;
  const RunResult r = run(mlt_switches(d), mlt_traffic(d, kReliable), *pool, kLimit);
  EXPECT_EQ(r.traffic.starts_sent, 6U);
  EXPECT_EQ(r.traffic.acks_received, 6U);
  for (const auto& b : bursts_of(r, BurstDirection::kPush))
    EXPECT_EQ(b.released_ns, b.due_ns + Duration(milliseconds(5)).count());
  EXPECT_EQ(bottleneck_of(r).starts_armed, 6U);
  EXPECT_EQ(bottleneck_of(r).recovered_arrival, 6U) << "the burst's first values are its arrival";
}

// The job's learner is told which values are missing. Without missing values it learns bit for
// bit the same as over TCP; with missing values the result differs.
TEST(MltJob, ALearnerDoesWithoutWhatIsMissing) {
  const Mempool pool = make_test_pool();
  const auto losses = [&pool](bool mlt, double tolerance) {
    Dumbbell d = mlt_dumbbell(2);
    d.job.iterations = 10;
    d.job.learner = {.model = LearnerModel::kLogistic,
                     .samples = 400,
                     .batch = 8,
                     .learning_rate = 0.3,
                     .target_loss = 0.5};
    MltConfig config = kReliable;
    config.tolerance_push = tolerance;
    const GeneratorConfig traffic = mlt ? mlt_traffic(d, config) : d.traffic();
    const RunResult r = run(mlt_switches(d), traffic, *pool, kLimit);
    EXPECT_TRUE(r.traffic.jobs_finished);
    std::vector<double> at;
    for (const auto& point : r.traffic.learners.at(0).losses) at.push_back(point.loss);
    return at;
  };
  const auto tcp = losses(false, 0);
  ASSERT_EQ(tcp.size(), 11U);
  EXPECT_EQ(losses(true, 0), tcp);
  const auto loose = losses(true, 0.5);
  ASSERT_EQ(loose.size(), 11U);
  EXPECT_NE(loose, tcp);
  EXPECT_LT(loose.back(), loose.front()) << "it learns all the same";
}

}  // namespace
}  // namespace outrider::mlt_job_test
