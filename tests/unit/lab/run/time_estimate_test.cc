// Goal: the estimated time follows from the virtual time of the cases. Method: literal schedules.
#include "tools/lab/run/time_estimate.h"

#include <gtest/gtest.h>

#include "common/core/units.h"
#include "tests/support/source_path.h"
#include "trafficgen/workload/config/model_profile.h"

namespace outrider::time_estimate_test {
using namespace tg;
using namespace lab;
namespace {

using namespace std::chrono_literals;

Case one_job(const JobConfig& job) {
  Case c;
  c.bottleneck = BitRate{100'000'000};
  c.traffic.jobs = {job};
  return c;
}

double seconds_of(const JobConfig& job) {
  ModelSizes models;
  return virtual_seconds(one_job(job), models).value();
}

TEST(TimeEstimate, AFixedScheduleSaysHowLongItTakes) {
  JobConfig job;
  job.schedule = Schedule::kFixed;
  job.first_due = 20s;
  job.iterations = 6;
  job.period = 7s;
  EXPECT_DOUBLE_EQ(seconds_of(job), 62);
  job.stop_after = 5s;
  EXPECT_DOUBLE_EQ(seconds_of(job), 12) << "the iteration that has begun goes on";
}

TEST(TimeEstimate, AClosedLoopHasHalfOfTheBottleneck) {
  JobConfig job;
  job.schedule = Schedule::kClosedLoop;
  job.first_due = 1s;
  job.iterations = 10;
  job.compute = 500ms;
  job.burst_bytes = 1'000'000;  // 8 Mbit, two workers, both ways: 32 Mbit at 50 Mbit/s
  job.workers = {"a", "b"};
  EXPECT_DOUBLE_EQ(seconds_of(job), 1 + 10 * (0.5 + 0.64));
  job.pull = false;
  EXPECT_DOUBLE_EQ(seconds_of(job), 1 + 10 * (0.5 + 0.32));
}

// The longest experiments train whole models.
TEST(TimeEstimate, AModelSaysItsBytesAndItsCompute) {
  const std::string file = source_path("conf/models/resnet50.toml");
  const auto profile = load_model_profile(file);
  ASSERT_TRUE(profile);
  JobConfig job;
  job.schedule = Schedule::kClosedLoop;
  job.iterations = 3;
  job.model = file;
  job.workers = {"a"};
  job.pull = false;
  const double burst = 2 * 8.0 * static_cast<double>(profile.config->total_bytes) / 100e6;
  const double compute = seconds(profile.config->compute().value_or(Duration{}));
  EXPECT_DOUBLE_EQ(seconds_of(job), 3 * (compute + burst));
  job.compute = 2s;
  EXPECT_DOUBLE_EQ(seconds_of(job), 3 * (2 + burst));
  job.model = "/nowhere.toml";
  ModelSizes models;
  EXPECT_FALSE(virtual_seconds(one_job(job), models));
}

// What crosses more links costs more, and with two paths of one job both its ways count.
TEST(TimeEstimate, WorkIsWhatLinksCarry) {
  ModelSizes models;
  JobConfig job;
  job.schedule = Schedule::kFixed;
  job.period = 1s;
  job.iterations = 10;
  job.burst_bytes = 1000;
  job.workers = {"a", "b"};
  Case c = one_job(job);
  c.switches.switches.resize(1);
  EXPECT_DOUBLE_EQ(wire_bits(c, 10, models), 10 * 8000.0 * 2 * 2 * 2);
  EXPECT_DOUBLE_EQ(wire_bits(c, 5, models), 5 * 8000.0 * 2 * 2 * 2) << "half of it";
  c.traffic.jobs[0].first_due = 30s;
  EXPECT_DOUBLE_EQ(wire_bits(c, 30, models), 0) << "a warm-up without background";
  EXPECT_DOUBLE_EQ(wire_bits(c, 35, models), 5 * 8000.0 * 2 * 2 * 2);
  c.traffic.jobs[0].first_due = 0s;
  c.traffic.flows.emplace_back().rate = BitRate{1'000'000};
  EXPECT_DOUBLE_EQ(wire_bits(c, 10, models), 10 * 8000.0 * 2 * 2 * 2 + 2 * 10e6);
}

TEST(TimeEstimate, TheCaseThatMeasuresTheMachineIsOne) {
  const Case c = speed_case();
  ModelSizes models;
  EXPECT_EQ(c.background_flows, 8U);
  EXPECT_GT(virtual_seconds(c, models).value(), 900) << "it ends by its time on the wall";
}

TEST(TimeEstimate, TextHasTheUnitThatFits) {
  EXPECT_EQ(duration_text(0.2), "1 s");
  EXPECT_EQ(duration_text(99), "99 s");
  EXPECT_EQ(duration_text(600), "10 min");
  EXPECT_EQ(duration_text(9000), "2.5 h");
}

// A million packets of two ports are most of the memory of a small case.
TEST(MemoryEstimate, CountsTheCapturesOfPorts) {
  Case c = speed_case();
  const auto memory = [&c] {
    PlanEstimate estimate;
    estimate.add(c, 1);
    return estimate.memory_bytes();
  };
  const std::uint64_t without = memory();
  c.observed = {.captures = {"a.to_b", "b.to_a"}, .capture_packets = 1'000'000};
  const std::uint64_t with = memory() - without;
  EXPECT_GT(with, 2U * 1'000'000 * 128) << "the headers alone";
  EXPECT_LT(with, 4'000'000'000U);
  c.observed.captures.pop_back();
  EXPECT_EQ(memory() - without, with / 2);
}

}  // namespace
}  // namespace outrider::time_estimate_test
