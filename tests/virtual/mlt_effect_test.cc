// Goal: bounded loss has its intended effects: the tail of an incast falls with the tolerance
// while the bound holds; at the same threshold important packets are dropped far more rarely
// than others; and the first layer's parameters arrive early.
// Method: ten seeds for each comparison.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "common/net/mlt_message.h"
#include "tests/support/source_path.h"
#include "tests/virtual/mlt_scene.h"

namespace outrider::mlt_effect_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Time kLimit = Time{} + std::chrono::seconds(120);
constexpr std::uint64_t kSeeds = 10;

/// Returns sixteen workers that push at once into a queue smaller than their first windows.
Dumbbell incast(std::uint64_t seed) {
  Dumbbell d = mlt_dumbbell(16);
  d.seed = seed;
  d.accept_signals = false;  // a TOS byte with DSCPs
  d.rtt = microseconds(400);
  d.bottleneck = BitRate{1'000'000'000};
  d.job.burst_bytes = 100'000;
  d.job.iterations = 5;
  d.bottleneck_port.queue.limit_packets = 60;
  d.bottleneck_port.marker.threshold_packets = 20;
  return d;
}

/// Per iteration the slowest worker's push and the smallest share that a worker delivered.
struct Incast {
  std::vector<double> tails;
  double least_share = 1;
  std::uint64_t dropped = 0;
};

Incast run_incast(double tolerance, rte_mempool& pool) {
  Incast all;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Dumbbell d = incast(seed);
    const MltConfig mlt{.tolerance_push = tolerance, .probe_timeout = milliseconds(2)};
    const RunResult r = run(mlt_switches(d), mlt_traffic(d, mlt), pool, kLimit);
    EXPECT_TRUE(r.traffic.jobs_finished);
    std::vector<std::int64_t> tails(d.job.iterations, 0);
    for (const auto& b : bursts_of(r, BurstDirection::kPush)) {
      auto& tail = tails[b.identity.iteration];
      tail = std::max(tail, b.delivered_ns - b.released_ns);
      all.least_share = std::min(
          all.least_share, static_cast<double>(b.delivered_bytes) / static_cast<double>(b.bytes));
    }
    for (const auto t : tails) all.tails.push_back(static_cast<double>(t) / 1e9);
    all.dropped += sum(bottleneck_of(r).drops);
  }
  return all;
}

TEST(MltEffect, TheTailOfAnIncastFallsWithTheTolerance) {
  const Mempool pool = make_test_pool(20'000);
  std::vector<double> mean_tails;
  for (const double tolerance : {0.0, 0.1, 0.3}) {
    const Incast all = run_incast(tolerance, *pool);
    EXPECT_GT(all.dropped, 1000U) << "an overload";
    EXPECT_GE(all.least_share, 1 - tolerance);
    mean_tails.push_back(mean(all.tails));
  }
  // At least half of the bytes that need not be sent save their time.
  EXPECT_LT(mean_tails[1], 0.95 * mean_tails[0]);
  EXPECT_LT(mean_tails[2], 0.85 * mean_tails[1]);
}

// Sixteen senders whose first windows alone overflow the queue. Its delay when it is full is 720
// us, beside a round trip of 400 us.
TEST(MltEffect, TimelyKeepsAnIncastFromCollapse) {
  const Mempool pool = make_test_pool(20'000);
  std::vector<double> tails;
  std::uint64_t silences = 0, bursts = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Dumbbell d = incast(seed);
    d.ddl_tcp.control.controller = Controller::kTimely;
    d.ddl_tcp.control.timely_t_low = microseconds(500);
    d.ddl_tcp.control.timely_t_high = microseconds(800);
    const MltConfig mlt{.tolerance_push = 0, .probe_timeout = milliseconds(2)};
    const RunResult r = run(mlt_switches(d), mlt_traffic(d, mlt), *pool, kLimit);
    EXPECT_TRUE(r.traffic.jobs_finished);
    for (const auto& b : bursts_of(r, BurstDirection::kPush)) {
      EXPECT_EQ(b.delivered_bytes, b.bytes);
      tails.push_back(static_cast<double>(b.delivered_ns - b.released_ns) / 1e9);
      silences += b.rtos;
      ++bursts;
    }
  }
  std::ranges::sort(tails);
  std::printf("TIMELY: median %.2f ms, slowest %.2f ms, %.3f silences a burst\n",
              1e3 * tails[tails.size() / 2], 1e3 * tails.back(),
              static_cast<double>(silences) / static_cast<double>(bursts));
  EXPECT_LT(tails.back(), 2 * 13.6e-3) << "the link alone needs 13.6 ms";
  EXPECT_LT(static_cast<double>(silences), 0.2 * static_cast<double>(bursts));
}

/// Packets with values by their ECN field, at the sender and at the receiver.
struct Passed {
  std::array<std::uint64_t, 2> sent{};  ///< [Not-ECT, ECT]
  std::array<std::uint64_t, 2> arrived{};
  [[nodiscard]] double lost_share(std::size_t ect) const {
    return 1 - static_cast<double>(arrived[ect]) / static_cast<double>(sent[ect]);
  }
};

TEST(MltEffect, WhatMattersIsDroppedFarMoreRarely) {
  const Mempool pool = make_test_pool(20'000);
  Passed passed;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Dumbbell d = incast(seed);
    d.bottleneck_port.queue.limit_packets = 300;
    d.bottleneck_port.marker.not_ect = NotEct::kDrop;
    const MltConfig mlt{
        .tolerance_push = 0.3, .probe_timeout = milliseconds(2), .small_share = 0.5};
    ImpairedSimulation simulation(mlt_switches(d), mlt_traffic(d, mlt), *pool);
    const auto count = [](std::array<std::uint64_t, 2>& by_ecn) {
      // The parser's field of a segment's flags has the kind of this transport's datagrams.
      constexpr auto kData = static_cast<std::uint8_t>(mlt::Kind::kData);
      return [&by_ecn](const SeenPacket& p) {
        if (p.tcp_flags == kData && p.flow.destination_port == kMltPort)
          ++by_ecn[is_ect(ecn_of(p.tos)) ? 1 : 0];
        return Fate{};
      };
    };
    for (std::uint32_t w = 0; w < d.workers; ++w)
      simulation.from("w" + std::to_string(w)).set_rule(count(passed.sent));
    simulation.to("s0").set_rule(count(passed.arrived));
    ASSERT_TRUE(simulation.run_to_end(kLimit)) << seed;
    for (const auto& b : bursts_of(simulation.result(), BurstDirection::kPush))
      EXPECT_GE(static_cast<double>(b.delivered_bytes), 0.7 * static_cast<double>(b.bytes));
    simulation.flush();
  }
  EXPECT_GT(passed.sent[0], 10'000U);
  EXPECT_GT(passed.sent[1], 10'000U);
  EXPECT_GT(passed.lost_share(0), 0.02);
  EXPECT_LT(passed.lost_share(1), 0.1 * passed.lost_share(0));
}

/// Shares of gradients that were not delivered.
struct Zeroed {
  double values = 0;
  double magnitude = 0;  ///< of the sum of |g|
};

Zeroed run_magnitudes(Magnitudes magnitudes, rte_mempool& pool) {
  double values = 0, zeroed_values = 0, magnitude = 0, zeroed_magnitude = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Dumbbell d = incast(seed);
    d.bottleneck_port.queue.limit_packets = 300;
    d.bottleneck_port.marker.not_ect = NotEct::kDrop;
    d.job.learner = {.model = LearnerModel::kLogistic, .features = 69, .samples = 400};
    const MltConfig mlt{.tolerance_push = 0.3,
                        .probe_timeout = milliseconds(2),
                        .small_share = 0.5,
                        .magnitudes = magnitudes};
    const RunResult r = run(mlt_switches(d), mlt_traffic(d, mlt), pool, kLimit);
    EXPECT_TRUE(r.traffic.jobs_finished);
    const LearnerReport& l = r.traffic.learners.at(0);
    values += static_cast<double>(l.gradients * l.parameters);
    zeroed_values += static_cast<double>(l.zeroed_values);
    magnitude += l.magnitude;
    zeroed_magnitude += l.zeroed_magnitude;
  }
  return {zeroed_values / values, zeroed_magnitude / magnitude};
}

TEST(MltEffect, RanksOfTheLearnerLoseTheSmallGradients) {
  const Mempool pool = make_test_pool(20'000);
  const Zeroed drawn = run_magnitudes(Magnitudes::kDrawn, *pool);
  const Zeroed ranked = run_magnitudes(Magnitudes::kGradient, *pool);
  std::printf("lost values and magnitude: drawn %.4f %.4f, ranked %.4f %.4f\n", drawn.values,
              drawn.magnitude, ranked.values, ranked.magnitude);
  EXPECT_GT(drawn.values, 0.05);
  EXPECT_GT(ranked.values, 0.05);
  EXPECT_NEAR(drawn.magnitude, drawn.values, 0.1 * drawn.values);
  EXPECT_LT(ranked.magnitude, 0.9 * ranked.values);
}

/// How sixteen workers learn in forty iterations with one setting of the transport.
struct Learnt {
  std::vector<double> last_loss{};          ///< [seeds]
  std::vector<double> seconds_to_loss{};    ///< of the seeds that reached it
  std::vector<double> gradients_to_loss{};  ///< the same
  std::vector<double> iteration_seconds{};
};

Learnt run_learning(const MltConfig& settings, rte_mempool& pool) {
  Learnt all;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Dumbbell d = incast(seed);
    d.job.iterations = 40;
    d.bottleneck_port.queue.limit_packets = 300;
    d.bottleneck_port.marker.not_ect = NotEct::kDrop;
    d.job.learner = {.model = LearnerModel::kLogistic,
                     .features = 69,
                     .samples = 1000,
                     .batch = 8,
                     .learning_rate = 0.4,
                     .target_loss = 0.42};
    MltConfig mlt = settings;
    mlt.probe_timeout = milliseconds(2);
    mlt.small_share = 0.5;
    const RunResult r = run(mlt_switches(d), mlt_traffic(d, mlt), pool, kLimit);
    EXPECT_TRUE(r.traffic.jobs_finished);
    const LearnerReport& l = r.traffic.learners.at(0);
    all.last_loss.push_back(l.last_loss);
    for (const auto& i : r.traffic.iterations)
      all.iteration_seconds.push_back(static_cast<double>(i.end_ns - i.begin_ns) / 1e9);
    if (l.target_ns == kNotYet_ns) continue;
    all.seconds_to_loss.push_back(static_cast<double>(l.target_ns) / 1e9);
    all.gradients_to_loss.push_back(static_cast<double>(l.target_gradients));
  }
  return all;
}

/// Returns half the width of the 95 % interval of the mean of ten values (Student's t).
double interval(const std::vector<double>& values) {
  double squares = 0;
  for (const double v : values) squares += (v - mean(values)) * (v - mean(values));
  return 2.262 * std::sqrt(squares / static_cast<double>(kSeeds * (kSeeds - 1)));
}

/// Prints a setting's figures, and by how much its last loss is above that of another, by seed.
void print(double tolerance, const char* name, const Learnt& l, const Learnt& other) {
  std::vector<double> above;
  for (std::size_t i = 0; i < kSeeds; ++i) above.push_back(l.last_loss[i] - other.last_loss[i]);
  std::printf(
      "p %.1f %-16s last loss %.4f (%+.4f +- %.4f), iteration %.2f ms, %zu of 10 reached 0.42: "
      "%.0f "
      "ms, %.0f gradients\n",
      tolerance, name, mean(l.last_loss), mean(above), interval(above),
      1e3 * mean(l.iteration_seconds), l.seconds_to_loss.size(), 1e3 * mean(l.seconds_to_loss),
      mean(l.gradients_to_loss));
}

// In sequential order the same tail is missing in every iteration. With a drawn order it is a
// random sample, and with ranks by gradient more of it is small.
TEST(MltEffect, AJobLearnsSoonerIfNotAlwaysTheSameIsMissing) {
  const Mempool pool = make_test_pool(20'000);
  const Learnt whole = run_learning({.tolerance_push = 0}, *pool);
  print(0, "", whole, whole);
  for (const double p : {0.1, 0.3}) {
    MltConfig mlt{.tolerance_push = p};
    const Learnt plain = run_learning(mlt, *pool);
    mlt.magnitudes = Magnitudes::kGradient;
    const Learnt ranked = run_learning(mlt, *pool);
    mlt.order = PacketOrder::kRandom;
    const Learnt both = run_learning(mlt, *pool);
    mlt.magnitudes = Magnitudes::kDrawn;
    const Learnt random = run_learning(mlt, *pool);
    print(p, "", plain, plain);
    print(p, "gradient", ranked, plain);
    print(p, "random", random, plain);
    print(p, "random, gradient", both, random);
    if (p > 0.2) {
      EXPECT_LT(mean(random.last_loss), mean(plain.last_loss));
    }
    EXPECT_LT(mean(both.last_loss), mean(random.last_loss));
    EXPECT_LT(mean(whole.last_loss), mean(both.last_loss));
  }
}

/// Gives every port a queue for each class, served in strict priority.
SwitchProcessConfig with_queues(SwitchProcessConfig c, const std::vector<std::uint32_t>& dscps) {
  for (auto& sw : c.switches) {
    ConfigTable queues;
    for (std::size_t i = 0; i < dscps.size(); ++i)
      queues[std::to_string(dscps[i])] = ConfigValue(static_cast<std::int64_t>(i));
    sw.classes.dscp = queues;
    sw.classes.background_queue = sw.classes.ddl_queue =
        static_cast<std::uint32_t>(dscps.size()) - 1;
    for (auto& port : sw.ports) {
      port.scheduler = SchedulerKind::kStrict;
      port.queues.assign(dscps.size(), {port.queue, port.marker, port.regulation});
    }
  }
  return c;
}

/// Mean times from gradients ready to the first layer's parameters, and to all parameters.
struct Layers {
  std::vector<double> first, all;
};

Layers run_layers(const std::vector<std::uint32_t>& dscps, rte_mempool& pool) {
  Layers layers;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Dumbbell d = incast(seed);
    d.workers = 4;
    d.background_flows = 3;
    d.job.burst_bytes.reset();
    d.job.model = source_path("conf/models/resnet32-cifar.toml");
    d.job.compute = milliseconds(20);
    d.job.policy.granularity = Granularity::kTensor;
    d.job.iterations = 3;
    MltConfig mlt{.tolerance_push = 0.1, .probe_timeout = milliseconds(2)};
    mlt.class_dscps = dscps;
    auto switches = mlt_switches(d);
    if (!dscps.empty()) switches = with_queues(switches, dscps);
    const RunResult r = run(switches, mlt_traffic(d, mlt), pool, kLimit);
    EXPECT_TRUE(r.traffic.jobs_finished);
    for (const auto& i : r.traffic.iterations) {
      layers.first.push_back(static_cast<double>(i.first_layer_ns - i.ready_ns) / 1e9);
      layers.all.push_back(static_cast<double>(i.parameters_ns - i.ready_ns) / 1e9);
    }
  }
  return layers;
}

TEST(MltEffect, FrontLayersAreCompleteBeforeBackLayers) {
  const Mempool pool = make_test_pool(20'000);
  const Layers plain = run_layers({}, *pool);
  const Layers classes = run_layers({46, 34, 26, 0}, *pool);
  EXPECT_LT(mean(classes.first), 0.6 * mean(plain.first));
  EXPECT_LT(mean(classes.first), 0.6 * mean(classes.all)) << "before the back layers";
}

}  // namespace
}  // namespace outrider::mlt_effect_test
