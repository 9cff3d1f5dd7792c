#include "trafficgen/workload/config/model_profile.h"

#include <gtest/gtest.h>

#include <fstream>
#include <tuple>

#include "common/config/config_file.h"
#include "tests/unit/config/issue_matchers.h"
#include "tests/unit/config/two_tensors.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::model_profile_test {
using namespace tg;
namespace {

ModelProfile stepped() {
  ModelProfile p = two_tensors();
  p.steps = {{1, 500us}, {0, 1500us}};
  return p;
}

ModelProfile measured() {
  ModelProfile p = stepped();
  p.forward_measured.sequence = {1ms, 2ms};
  p.steps[0].measured.quantiles = {400us, 500us, 800us};
  return p;
}

TEST(ModelProfile, EveryRuleNamesItsKey) {
  using P = ModelProfile;
  const Breach<P> breaches[] = {
      {[](P& p) { p.name = ""; }, "name", "\"\": must not be empty"},
      {[](P& p) { p.source = ""; }, "source", "\"\": must not be empty"},
      {[](P& p) { p.parameters = 0; }, "parameters", "0: must be at least 1"},
      {[](P& p) { p.total_bytes = 13; }, "total_bytes",
       "13 bytes: must be the sum over the tensors, 12"},
      {[](P& p) { p.tensors.clear(); }, "tensors", "a model must have at least one tensor"},
      {[](P& p) { p.tensors[1].bytes = 0; }, "tensors[1].bytes", "0 bytes: must be at least 1"},
      {[](P& p) { p.tensors[1].name = "a"; }, "tensors[1].name",
       "\"a\": is also that of tensors[0]"},
      {[](P& p) { p.forward.reset(); }, "forward", "is required with backward"},
      {[](P& p) { p.backward.reset(); }, "backward", "is required with forward"},
      {[](P& p) { p.backward = 0ms; }, "backward", "0s: must be longer than zero"},
      {[](P& p) { p.compute_source.reset(); }, "compute_source",
       "is required with forward and backward"},
      {[](P& p) { p.compute_basis.reset(); }, "compute_basis",
       "is required with forward and backward"},
  };
  const Breach<P> of_steps[] = {
      {[](P& p) {
         p.steps = {{1, 500us}, {1, 500us}, {0, 1ms}};
       },
       "steps[1].first_tensor", "1: must be below 1"},
      {[](P& p) { p.steps.pop_back(); }, "steps", "1 tensors are in none"},
      {[](P& p) { p.steps[0].after = 1ms; }, "steps", "2500us: must add up to backward, 2ms"},
      {[](P& p) { p.steps[0].after = 0ms; }, "steps[0].after", "0s: must be longer than zero"},
  };
  const Breach<P> of_whole[] = {
      {[](P& p) {
         p.compute_measured = {{3ms}, {2ms, 4ms}};
       },
       "compute_quantiles", "must be left out with compute_sequence"},
      {[](P& p) {
         p.compute_measured = {{3ms, 0ms}, {}};
       },
       "compute_sequence[1]", "0s: must be longer than zero"},
      {[](P& p) { p.compute_measured.sequence.assign(65'537, 1ms); }, "compute_sequence",
       "65537 values: must be at most 65536"},
  };
  const Breach<P> of_parts[] = {
      {[](P& p) {
         p.forward_measured = {{}, {1ms}};
       },
       "forward_quantiles", "1 value: must be at least 2"},
      {[](P& p) {
         p.forward_measured = {{}, {2ms, 3ms, 1ms}};
       },
       "forward_quantiles[2]", "1ms: must not be less than the value before it"},
      {[](P& p) {
         p.steps[1].measured = {{1ms, 2ms, 3ms}, {}};
       },
       "steps[1].after_sequence", "3 values: must be as many as the sequence before it has, 2"},
      {[](P& p) {
         p.compute_measured = {{}, {1ms, 2ms}};
       },
       "compute_quantiles", "must be left out where forward or a step has measured times"},
  };
  EXPECT_TRUE(validate(measured()).empty());
  expect_each_reported(of_whole, stepped());
  expect_each_reported(of_parts, measured());
  EXPECT_TRUE(validate(two_tensors()).empty());
  EXPECT_TRUE(validate(stepped()).empty());
  expect_each_reported(of_steps, stepped());
  expect_each_reported(breaches, two_tensors());
}

TEST(ModelProfile, WhatIsWrittenReadsBack) {
  const auto path = testing::TempDir() + "/model_profile_test.toml";
  { std::ofstream(path) << to_toml(measured()); }
  const auto result = load_model_profile(path);
  ASSERT_TRUE(result) << format_issues(path, result.issues);
  const auto& [name, precision, parameters, bytes, source, forward, backward, compute_measured,
               forward_measured, compute_source, basis, steps, tensors] = *result.config;
  EXPECT_EQ(std::tuple(name, precision, parameters, bytes, source, compute_source, basis),
            std::tuple("m", "fp16", 3U, 12U, "us", ComputeSource::kScaled, "us"));
  EXPECT_EQ(std::tuple(forward, backward), std::tuple(1ms, 2ms));
  EXPECT_TRUE(compute_measured.empty());
  EXPECT_EQ(forward_measured.sequence, (std::vector<Duration>{1ms, 2ms}));
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].measured.quantiles, (std::vector<Duration>{400us, 500us, 800us}));
  EXPECT_EQ(std::tuple(steps[0].first_tensor, steps[0].after), std::tuple(1U, 500us));
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[1].name, "b");
  EXPECT_EQ(tensors[1].bytes, 8U);
  EXPECT_EQ(result.config->compute(), 3ms);
}

}  // namespace
}  // namespace outrider::model_profile_test
