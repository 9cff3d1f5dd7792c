#pragma once

#include <gtest/gtest.h>

#include <string>

#include "common/config/config_file.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/plan/plan.h"

namespace outrider {

/// Returns a small valid experiment: two leaves, one trunk, one arm of each kind.
inline std::string small_experiment(const std::string& more = {}) {
  return R"(
name = "small"
question = "?"
seeds = 2
[network]
measured = "a.to_b"
rtt = "2ms"
[[switch]]
name = "a"
[[switch]]
name = "b"
[[link]]
a = "a"
b = "b"
rate = "100mbit"
delay = "500us"
[[hosts]]
name = "worker"
count = "workers"
switch = "a"
rate = "1gbit"
delay = "250us"
[[hosts]]
name = "server"
count = "servers"
switch = "b"
rate = "1gbit"
delay = "250us"
[[hosts]]
name = "sender"
count = 2
switch = "a"
rate = "1gbit"
delay = "250us"
delay_spread = 0.2
[[hosts]]
name = "receiver"
count = 2
switch = "b"
rate = "1gbit"
delay = "250us"
[background]
from = "sender"
to = "receiver"
[parameters]
warm_up_seconds = 0.5
background.start_spread = "0s"
job.period = "200ms"
job.iterations = 2
job.burst_bytes = "100kB"
[[arm]]
label = "off"
[[arm]]
label = "off-no-start"
job.announce.lead_source = "none"
[[arm]]
label = "on"
switch.regulation.mode = "mark"
)" + more;
}

inline ConfigResult<lab::ExperimentFile> read_experiment(const std::string& text) {
  return lab::experiment_from(parse_toml(text).config.value(), "");
}

/// Replaces the only occurrence of `from`.
inline std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

inline std::vector<lab::Case> plan_of(const std::string& text,
                                      const lab::PlanOptions& options = {}) {
  const auto file = read_experiment(text);
  EXPECT_TRUE(file) << format_issues("text", file.issues);
  if (!file) return {};
  auto plan = make_plan(*file.config, options);
  EXPECT_TRUE(plan) << format_issues("text", plan.issues);
  return plan ? std::move(*plan.config) : std::vector<lab::Case>{};
}

inline lab::ParameterValue parameter(const lab::Case& c, const std::string& name) {
  for (const auto& [key, value] : c.parameters)
    if (key == name) return value;
  ADD_FAILURE() << "no parameter " << name;
  return false;
}

}  // namespace outrider
