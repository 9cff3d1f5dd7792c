// Goal: both programs read [telemetry] by the same rules, and refuse it with the same words.
#include "common/config/telemetry_config.h"

#include <gtest/gtest.h>

#include <string>

#include "common/config/config_file.h"
#include "common/config/toml_file.h"
#include "switch/config/config_toml.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::telemetry_config_test {
namespace {

/// Returns what a program says of its [telemetry].
template <class Config>
std::string faults(const std::string& table) {
  Config config;
  ConfigIssues issues;
  read_config(parse_toml("[telemetry]\n" + table).config.value(), "", config, issues);
  merge_issues(issues, validate(config));
  std::string text;
  for (const auto& issue : issues)
    if (issue.key.starts_with("telemetry")) text += issue.key + ": " + issue.problem + '\n';
  return text;
}

TEST(TelemetryConfig, IsRefusedWithTheSameWordsByBothPrograms) {
  const auto expect = [](const std::string& table, const std::string& text) {
    EXPECT_EQ(faults<sw::SwitchProcessConfig>(table), text) << table;
    EXPECT_EQ(faults<tg::GeneratorConfig>(table), text) << table;
  };
  expect("", "");
  expect("prometheus = \"127.0.0.1:9464\"", "");
  expect("prometheus = \"192.0.2.1:9464\"\nprometheus_remote = true", "");
  expect("prometheus = \"192.0.2.1:9464\"",
         "telemetry.prometheus: \"192.0.2.1:9464\": is not a loopback address; set "
         "prometheus_remote = true if others shall read it\n");
  for (const char* address : {"localhost:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0",
                              "127.0.0.1:65536", ":9464", "127.0.0.1:9464 ", "::1:9464", ""})
    expect("prometheus = \"" + std::string(address) + '"',
           "telemetry.prometheus: \"" + std::string(address) +
               "\": must be an IPv4 address and a port, e.g. \"127.0.0.1:9464\"\n");
}

}  // namespace
}  // namespace outrider::telemetry_config_test
