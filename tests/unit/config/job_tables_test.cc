// Goal: tables of a job, or of all jobs, that the full configuration of the other tests
// cannot hold because further settings have to fit to them: what is written reads back.
#include <gtest/gtest.h>

#include <tuple>

#include "common/config/config_file.h"
#include "tests/unit/config/issue_matchers.h"
#include "trafficgen/workload/job_config.h"
#include "trafficgen/workload/tensorlights_config.h"

namespace outrider::job_tables_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

// The structured bindings stop compiling when a struct gains a field.
auto fields(const TensorLightsConfig& c) {
  const auto& [mode, interval, bands, floor] = c;
  return std::tuple(mode, interval, bands, floor);
}
auto fields(const SignalFaultsConfig& c) {
  const auto& [lost, late, late_by, early, early_by, duplicated, copies, copy_gap, forged] = c;
  return std::tuple(lost, late, late_by, early, early_by, duplicated, copies, copy_gap, forged);
}

auto fields(const R2spConfig& c) {
  const auto& [slack, warm_up, tune, batch] = c;
  return std::tuple(slack, warm_up, tune, batch);
}
auto fields(const LearnerConfig& c) {
  const auto& [model, features, hidden, samples, batch, rate, target] = c;
  return std::tuple(model, features, hidden, samples, batch, rate, target);
}

template <class T>
void expect_read_back(const T& written) {
  expect_all_differ(fields(written), fields(T{}));
  T again;
  ConfigIssues issues;
  read_config(parse_toml(write_config(written)).config.value(), "", again, issues);
  ASSERT_TRUE(issues.empty()) << format_issues("text", issues);
  EXPECT_EQ(fields(again), fields(written));
}

TEST(JobTables, BandsReadBack) {
  expect_read_back(TensorLightsConfig{TensorLightsMode::kRotate, 8ms, 3, BitRate{9'000'000}});
}

TEST(JobTables, FaultsOfAnnouncementsReadBack) {
  expect_read_back(SignalFaultsConfig{0.1, 0.2, 4ms, 0.3, 5ms, 0.4, 3, 6us, 7});
}

TEST(JobTables, TurnsReadBack) { expect_read_back(R2spConfig{1.25, 4, true, 512}); }

TEST(JobTables, WhatIsLearntReadsBack) {
  expect_read_back(LearnerConfig{LearnerModel::kPerceptron, 5, 6, 700, 8, 0.25, 0.5});
}

}  // namespace
}  // namespace outrider::job_tables_test
