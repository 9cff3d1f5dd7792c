// Goal: which STARTs fail, and how, follows the configured shares, and no draw moves another.
// Method: the draws of literal seeds, and their moments; configurations that make no sense.
#include "trafficgen/workload/announce/signal_faults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/config/config_file.h"
#include "common/config/range_checker.h"
#include "trafficgen/workload/config/job_config.h"

namespace outrider::signal_faults_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kSamples = 20'000;

SignalFaults with(const SignalFaultsConfig& config, std::uint64_t seed = 1, std::uint16_t job = 0) {
  return {config, {.seed = seed, .job = job}};
}

std::vector<SignalFault> samples(const SignalFaultsConfig& config) {
  const SignalFaults faults = with(config);
  std::vector<SignalFault> all;
  for (std::uint32_t i = 0; i < kSamples; ++i) all.push_back(faults.of(0, i));
  return all;
}

double share_of(const std::vector<SignalFault>& all, auto is) {
  return static_cast<double>(std::ranges::count_if(all, is)) / static_cast<double>(all.size());
}

TEST(SignalFaults, NothingFailsWithoutARate) {
  const SignalFaultsConfig times{.late_by = 5ms, .early_by = 5ms, .copies = 9, .copy_gap = 1ms};
  for (const auto& fault : samples(times)) ASSERT_EQ(fault, SignalFault{});
  EXPECT_FALSE(with(times).forges());
}

TEST(SignalFaults, EverythingFailsAtOne) {
  for (const auto& f : samples({.lost = 1, .late = 1, .late_by = 5ms, .duplicated = 1}))
    ASSERT_EQ(f, (SignalFault{.lost = true})) << "what is lost is neither late nor copied";
  for (const auto& f : samples({.late = 1, .late_by = 5ms}))
    ASSERT_EQ(f, (SignalFault{.shift = 5ms}));
  for (const auto& f : samples({.early = 1, .early_by = 5ms}))
    ASSERT_EQ(f, (SignalFault{.shift = -5ms}));
  for (const auto& f : samples({.duplicated = 1, .copies = 3}))
    ASSERT_EQ(f, (SignalFault{.copies = 3}));
}

TEST(SignalFaults, AtTheirSharesEachOnItsOwn) {
  const auto all = samples(
      {.lost = 0.1, .late = 0.3, .late_by = 5ms, .early = 0.2, .early_by = 2ms, .duplicated = 0.4});
  EXPECT_NEAR(share_of(all, [](const auto& f) { return f.lost; }), 0.1, 0.01);
  EXPECT_NEAR(share_of(all, [](const auto& f) { return f.shift == 5ms; }), 0.3 * 0.9, 0.01);
  EXPECT_NEAR(share_of(all, [](const auto& f) { return f.shift == -2ms; }), 0.2 * 0.9, 0.01);
  EXPECT_NEAR(share_of(all, [](const auto& f) { return f.copies == 1; }), 0.4 * 0.9, 0.01);
  EXPECT_NEAR(share_of(all, [](const auto& f) { return f.copies == 1 && f.shift == 5ms; }),
              0.4 * 0.3 * 0.9, 0.01);
}

// A curve over the rate then differs by what was added, not by other draws.
TEST(SignalFaults, WhatFailsAtARateFailsAtEachHigherOne) {
  const auto few = samples({.lost = 0.1}), many = samples({.lost = 0.3});
  const auto late = samples({.late = 0.2, .late_by = 1ms});
  const auto both = samples({.late = 0.2, .late_by = 1ms, .early = 0.5, .early_by = 1ms});
  for (std::uint32_t i = 0; i < kSamples; ++i) {
    ASSERT_LE(few[i].lost, many[i].lost);
    ASSERT_EQ(late[i].shift > 0ms, both[i].shift > 0ms) << "early ones move no late one";
  }
}

TEST(SignalFaults, OthersHaveOtherDraws) {
  const SignalFaultsConfig half{.lost = 0.5};
  const auto drawn = [&](const SignalFaults& faults, std::uint32_t worker) {
    std::vector<bool> lost;
    for (std::uint32_t i = 0; i < 64; ++i) lost.push_back(faults.of(worker, i).lost);
    return lost;
  };
  const auto first = drawn(with(half), 0);
  EXPECT_EQ(first, drawn(with(half), 0));
  EXPECT_NE(first, drawn(with(half), 1)) << "another worker";
  EXPECT_NE(first, drawn(with(half, 2), 0)) << "another seed";
  EXPECT_NE(first, drawn(with(half, 1, 1), 0)) << "another job";
  const SignalFaults again(half, {.seed = 1, .job = 0, .first_iteration = 10});
  for (std::uint32_t i = 0; i < 54; ++i)
    ASSERT_EQ(again.of(0, i).lost, first[i + 10]) << "a job that comes again goes on";
}

// 1e-320 a second gave a gap that had wrapped to a nanosecond, so that a run never ended.
TEST(SignalFaults, TheRarestComeAfterEveryRun) {
  for (const double rare : {1e-320, 1e-300, 1e-15})
    EXPECT_GT(with({.forged_per_second = rare}).forged_gap(0, 0), 24h * 365) << rare;
}

TEST(SignalFaults, ForgedAndReplayedOnesComeAtTheirRates) {
  const SignalFaults faults = with({.forged_per_second = 50, .replayed_per_second = 50});
  ASSERT_TRUE(faults.forges());
  ASSERT_TRUE(faults.replays());
  EXPECT_FALSE(with({.forged_per_second = 50}).replays());
  EXPECT_FALSE(with({.replayed_per_second = 50}).forges());
  for (const auto gap : {&SignalFaults::forged_gap, &SignalFaults::replayed_gap}) {
    Duration sum{}, shortest = 1h;
    for (std::uint32_t n = 0; n < kSamples; ++n) {
      sum += (faults.*gap)(0, n);
      shortest = std::min(shortest, (faults.*gap)(0, n));
    }
    EXPECT_NEAR(seconds(sum) / kSamples, 0.02, 0.0005);
    EXPECT_GT(shortest, 0ns);
    EXPECT_NE((faults.*gap)(0, 0), (faults.*gap)(1, 0));
  }
  EXPECT_NE(faults.forged_gap(0, 0), faults.replayed_gap(0, 0));
}

// -- what is refused, by its key

JobConfig job() {
  JobConfig c;
  c.name = "job";
  c.workers = {"w"};
  c.servers = {"s"};
  c.burst_bytes = 1000;
  c.schedule = Schedule::kFixed;
  c.first_due = 1s;
  c.period = 100ms;
  c.announce.lead_source = LeadSource::kOverlap;
  c.announce.lead = 10ms;
  return c;
}

std::vector<std::string> refused(const JobConfig& config) {
  ConfigIssues issues, joint;
  check_ranges(Checks(issues), config);
  check(Checks(joint), config);
  merge_issues(issues, joint);
  std::vector<std::string> keys;
  for (const auto& issue : issues) keys.push_back(issue.key);
  return keys;
}

std::string faults_key(const std::string& name) { return "announce.faults." + name; }

TEST(SignalFaultsConfig, EachFaultByItsKey) {
  using Faults = SignalFaultsConfig;
  const struct {
    Faults faults;
    const char* key;
  } kCases[] = {
      {{.lost = 1.1}, "lost"},
      {{.late = -0.1, .late_by = 1ms}, "late"},
      {{.late = 0.5}, "late_by"},
      {{.late = 0.5, .late_by = 100ms}, "late_by"},
      {{.early = 0.5}, "early_by"},
      {{.early = 0.5, .early_by = 91ms}, "early_by"},
      {{.late = 0.6, .late_by = 1ms, .early = 0.5, .early_by = 1ms}, "early"},
      {{.late_by = -1ms}, "late_by"},
      {{.duplicated = 0.5, .copies = 0}, "copies"},
      {{.duplicated = 0.5, .copies = 101}, "copies"},
      {{.duplicated = 0.5, .copies = 2, .copy_gap = 50ms}, "copy_gap"},
      {{.forged_per_second = -1}, "forged_per_second"},
      {{.forged_tag = ForgedTag::kWrong}, "forged_tag"},
      {{.replayed_per_second = 1}, "replayed_per_second"},
  };
  for (const auto& c : kCases) {
    JobConfig config = job();
    config.announce.faults = c.faults;
    EXPECT_EQ(refused(config), std::vector{faults_key(c.key)}) << c.key;
  }
}

TEST(SignalFaultsConfig, NothingCanHappenToAStartThatIsNotSent) {
  JobConfig config = job();
  config.announce.lead_source = LeadSource::kNone;
  config.announce.faults = {.lost = 0.1,
                            .late = 0.1,
                            .late_by = 1ms,
                            .early = 0.1,
                            .early_by = 1ms,
                            .duplicated = 0.1,
                            .forged_per_second = 1};
  EXPECT_EQ(refused(config), (std::vector{faults_key("lost"), faults_key("late"),
                                          faults_key("early"), faults_key("duplicated")}))
      << "forging needs nobody";
  config = job();
  config.announce.lead_source = LeadSource::kWait;
  config.announce.faults = {.early = 0.1, .early_by = 1ms};
  EXPECT_EQ(refused(config), std::vector{faults_key("early")});
  config.announce.faults = {.late = 0.1, .late_by = 1ms};
  EXPECT_EQ(refused(config), std::vector<std::string>{});
}

TEST(SignalFaultsConfig, TagsAndReplaysAreOfTheUdpForm) {
  JobConfig config = job();
  config.announce.signal_form = SignalForm::kUdp;
  config.announce.faults = {.replayed_per_second = 1};
  EXPECT_EQ(refused(config), std::vector<std::string>{});
  config.announce.faults.forged_tag = ForgedTag::kWrong;
  EXPECT_EQ(refused(config), std::vector{faults_key("forged_tag")});
  config.announce.signal_key = "job.key";
  EXPECT_EQ(refused(config), std::vector<std::string>{});
  config.announce.signal_form = SignalForm::kTos;
  EXPECT_EQ(refused(config),
            (std::vector<std::string>{"announce.signal_key", faults_key("replayed_per_second")}));
}

}  // namespace
}  // namespace outrider::signal_faults_test
