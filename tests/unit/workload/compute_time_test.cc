// Goal: how long a worker computes follows the configured factors exactly, the
// distributions have the moments that they claim, and no draw moves another.
#include "trafficgen/workload/plan/compute_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace outrider::compute_time_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kSamples = 20'000;

JobConfig three_workers() {
  JobConfig c;
  c.workers = {"a", "b", "c"};
  return c;
}

ComputeTime with(const JobConfig& c, std::uint64_t seed = 1, std::uint16_t job = 0) {
  return {c, {.seed = seed, .job = job, .base = 100ms}};
}

std::vector<double> samples(const JobConfig& c) {
  const ComputeTime compute = with(c);
  std::vector<double> factors;
  for (std::uint32_t i = 0; i < kSamples; ++i)
    factors.push_back(seconds(compute.of(0, i).time) / 0.1);
  return factors;
}

double mean_of(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return sum / static_cast<double>(v.size());
}

double deviation_of(const std::vector<double>& v) {
  const double mean = mean_of(v);
  double sum = 0;
  for (const double x : v) sum += (x - mean) * (x - mean);
  return std::sqrt(sum / static_cast<double>(v.size()));
}

TEST(ComputeTime, IsTheBaseWithoutSettings) {
  const ComputeTime compute = with(three_workers());
  for (std::uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(compute.of(1, i).time, 100ms);
    EXPECT_FALSE(compute.of(1, i).straggled);
    EXPECT_EQ(compute.lateness(1, i).time, 0ms);
  }
}

TEST(ComputeTime, MachinesOfTheirOwnSpeed) {
  JobConfig c = three_workers();
  c.compute_factors = {1, 1.5, 0.25};
  const ComputeTime compute = with(c);
  EXPECT_EQ(compute.of(0, 3).time, 100ms);
  EXPECT_EQ(compute.of(1, 3).time, 150ms);
  EXPECT_EQ(compute.of(2, 3).time, 25ms);
}

// Standard errors at 20,000 draws are below 0.003 for all of these.
TEST(ComputeTime, JitterHasTheMomentsOfItsShape) {
  constexpr double kJitter = 0.3;
  struct Row {
    JitterShape shape;
    double mean, deviation, low, high;
  };
  constexpr double kInfinite = 1e9;
  const Row rows[] = {
      {JitterShape::kUniform, 1, kJitter / std::sqrt(3), 0.7, 1.3},
      {JitterShape::kNormal, 1, kJitter, 1e-9, kInfinite},
      {JitterShape::kLognormal, 1, kJitter, 1e-9, kInfinite},
      {JitterShape::kExponential, 1 + kJitter, kJitter, 1, kInfinite},
  };
  for (const Row& row : rows) {
    JobConfig c = three_workers();
    c.compute_jitter = kJitter;
    c.compute_shape = row.shape;
    const auto factors = samples(c);
    const auto which = static_cast<int>(row.shape);
    EXPECT_NEAR(mean_of(factors), row.mean, 0.01) << which;
    EXPECT_NEAR(deviation_of(factors), row.deviation, 0.015) << which;
    EXPECT_GE(*std::ranges::min_element(factors), row.low) << which;
    EXPECT_LE(*std::ranges::max_element(factors), row.high) << which;
  }
  JobConfig wide = three_workers();  // one draw in 6.7 of this normal is not positive
  wide.compute_jitter = 0.9;
  wide.compute_shape = JitterShape::kNormal;
  const auto factors = samples(wide);
  EXPECT_GT(*std::ranges::min_element(factors), 0);
}

// The tails tell shapes of equal moments apart: P(X > 1 + 3 jitter).
TEST(ComputeTime, TailsDiffer) {
  const auto beyond = [](JitterShape shape) {
    JobConfig c = three_workers();
    c.compute_jitter = 0.3;
    c.compute_shape = shape;
    const auto factors = samples(c);
    return static_cast<double>(std::ranges::count_if(factors, [](double f) { return f > 1.9; })) /
           kSamples;
  };
  EXPECT_EQ(beyond(JitterShape::kUniform), 0);
  EXPECT_NEAR(beyond(JitterShape::kNormal), 0.00135, 0.001);
  EXPECT_NEAR(beyond(JitterShape::kLognormal), 0.0099, 0.003);  // Q((ln 1.9 + s^2/2) / s)
  EXPECT_NEAR(beyond(JitterShape::kExponential), std::exp(-3), 0.005);
}

TEST(ComputeTime, TheBatchIsSharedByTheWorkersAndDrawnForEveryIteration) {
  JobConfig c = three_workers();
  c.batch_jitter = 0.5;
  const ComputeTime compute = with(c);
  EXPECT_EQ(compute.of(0, 7).time, compute.of(2, 7).time);
  EXPECT_NE(compute.of(0, 7).time, compute.of(0, 8).time);
  c.compute_jitter = 0.5;
  const ComputeTime both = with(c);
  EXPECT_NE(both.of(0, 7).time, both.of(2, 7).time);
}

TEST(ComputeTime, ANamedStragglerIsSlowedByFactorAndDelay) {
  JobConfig c = three_workers();
  c.stragglers = {{.workers = {"b"}, .factor = 3, .delay = 7ms}};
  const ComputeTime compute = with(c);
  EXPECT_EQ(compute.of(0, 0).time, 100ms);
  EXPECT_EQ(compute.of(1, 0).time, 307ms);
  EXPECT_TRUE(compute.of(1, 0).straggled);
  EXPECT_EQ(compute.lateness(1, 0).time, 7ms) << "due times are given: the delay alone";
  EXPECT_EQ(compute.lateness(0, 0).time, 0ms);
}

TEST(ComputeTime, AShareOfIterationsStraggles) {
  JobConfig c = three_workers();
  c.stragglers = {{.share = 0.1, .delay = 50ms, .shape = StragglerShape::kExponential}};
  const ComputeTime compute = with(c);
  std::uint32_t hit = 0;
  double extra = 0;
  for (std::uint32_t i = 0; i < kSamples; ++i) {
    const auto sample = compute.of(2, i);
    EXPECT_EQ(sample.straggled, sample.time != 100ms);
    hit += sample.straggled ? 1 : 0;
    extra += seconds(sample.time - Duration{100ms});
  }
  EXPECT_NEAR(hit / double{kSamples}, 0.1, 0.01);
  EXPECT_NEAR(extra / hit, 0.050, 0.005);
  c.stragglers[0].shape = StragglerShape::kUniform;
  const ComputeTime uniform = with(c);
  Duration longest{};
  for (std::uint32_t i = 0; i < kSamples; ++i) longest = std::max(longest, uniform.of(2, i).time);
  EXPECT_LE(longest, 200ms);
  EXPECT_GT(longest, 195ms);
}

// What a worker draws depends on its own keys: not on other workers, jobs' settings
// or rules that come later in the file.
TEST(ComputeTime, NobodyMovesAnothersDraws) {
  JobConfig c = three_workers();
  c.compute_jitter = 0.2;
  c.stragglers = {{.workers = {"a"}, .share = 0.5, .delay = 1ms}};
  JobConfig more = c;
  more.workers.emplace_back("d");
  more.stragglers.push_back({.workers = {"b"}, .share = 0.5, .delay = 9ms});
  const ComputeTime few = with(c), many = with(more), other = with(c, 1, 1), reseeded = with(c, 2);
  std::uint32_t differs = 0;
  for (std::uint32_t i = 0; i < 50; ++i) {
    EXPECT_EQ(few.of(0, i).time, many.of(0, i).time);
    EXPECT_EQ(few.of(2, i).time, many.of(2, i).time);
    differs += few.of(2, i).time != other.of(2, i).time ? 1 : 0;
    differs += few.of(2, i).time != reseeded.of(2, i).time ? 1 : 0;
  }
  EXPECT_EQ(differs, 100U);
}

TEST(ComputeTime, ALaterStartGoesOnInTheSequenceOfDraws) {
  JobConfig c = three_workers();
  c.compute_jitter = 0.2;
  const ComputeTime first = with(c);
  const ComputeTime later(c, {.seed = 1, .first_iteration = 10, .base = 100ms});
  for (std::uint32_t i = 0; i < 10; ++i) EXPECT_EQ(later.of(1, i).time, first.of(1, i + 10).time);
}

}  // namespace
}  // namespace outrider::compute_time_test
