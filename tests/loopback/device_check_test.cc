// Goal: --check --devices says whether a file would start here, and ends. Method: real programs on
// a ring, which is always up, and on a vhost socket to which nobody comes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "common/telemetry/exit_status.h"
#include "tests/loopback/process_guard.h"
#include "tests/loopback/ring_config.h"
#include "tests/support/source_path.h"

namespace outrider::device_check_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class DeviceCheck : public testing::Test {
 protected:
  /// @return exit status; what was printed is in `said_`
  int run(std::vector<std::string> words) {
    const std::string log = directory_ / "log";
    ProcessGuard process(std::move(words), log);
    const int status = process.wait(kPatience).value_or(-1);
    said_ = read_whole(log);
    return status;
  }

  ScratchDirectory directory_;
  std::string said_;
};

TEST_F(DeviceCheck, SaysWhereTheFileStartsAndSendsNothing) {
  const std::string report = directory_ / "report.json";
  const std::string hosts = directory_.write("hosts.toml", kRingHosts);
  for (const std::string& file : {source_path("conf/trafficgen/imix.toml"), hosts}) {
    EXPECT_EQ(run({OUTRIDER_TRAFFICGEN_PROGRAM, "--config", file, "--check", "--devices"}), kExitOk)
        << said_;
    EXPECT_THAT(said_, HasSubstr("outrider-trafficgen starts here, on CPU"));
    EXPECT_THAT(said_, HasSubstr("link up, virtual: no rate of its own"));
    EXPECT_THAT(said_, Not(HasSubstr("ledger"))) << "nothing was run";
  }
}

TEST_F(DeviceCheck, ALinkThatDoesNotComeIsNamed) {
  std::string text = read_whole(source_path("conf/switch/loopback-leaf.toml"));
  for (const std::string name : {"workers.sock", "servers.sock"})
    text.replace(text.find(name), name.size(), directory_ / name);
  const std::string file = directory_.write("switch.toml", text);
  EXPECT_EQ(run({OUTRIDER_SWITCH_PROGRAM, "--config", file, "--check", "--devices",
                 "--wait-for-peer", "0.2"}),
            kExitEnvironment)
      << said_;
  EXPECT_THAT(said_, HasSubstr("no link within 0.2"));
}

TEST_F(DeviceCheck, BelongsToCheck) {
  const std::string file = source_path("conf/trafficgen/imix.toml");
  EXPECT_EQ(run({OUTRIDER_TRAFFICGEN_PROGRAM, "--config", file, "--devices"}), kExitUsage);
  EXPECT_THAT(said_, HasSubstr("--devices requires --check"));
}

}  // namespace
}  // namespace outrider::device_check_test
