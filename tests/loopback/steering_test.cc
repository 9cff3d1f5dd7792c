// Goal: a running generator says what its report says, and does what it is told. Method: the real
// program over a ring of pointers, asked and steered through DPDK's telemetry socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "common/telemetry/exit_status.h"
#include "tests/loopback/process_guard.h"
#include "tests/loopback/ring_config.h"
#include "tests/loopback/telemetry_client.h"

namespace outrider::steering_test {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* kStreams = R"(
lcore = 0
duration = "600s"
[[device]]
name = "loop"
device = "net_ring0"
line_rate = "1gbit"
[[stream]]
name = "a"
device = "loop"
receive_device = "loop"
rate = "10kpps"
source = "10.0.0.1"
destination = "10.1.0.1"
[[stream]]
name = "b"
device = "loop"
receive_device = "loop"
rate = "20kpps"
source = "10.0.0.2"
destination = "10.1.0.1"
)";

class GeneratorSteering : public testing::Test {
 protected:
  /// Asks until a stream has sent `more` packets beyond `before`. @return the last answer
  static Json after(const ProcessGuard& program, const std::string& stream, std::uint64_t before,
                    std::uint64_t more) {
    Json now;
    do now = ask(program, "/outrider/stream," + stream);
    while (now.contains("sent") && now["sent"].get<std::uint64_t>() < before + more);
    return now;
  }
  ScratchDirectory directory_;
};

TEST_F(GeneratorSteering, StreamsStopStartAndChangeTheirRate) {
  ProcessGuard program({OUTRIDER_TRAFFICGEN_PROGRAM, "--config",
                        directory_.write("c.toml", kStreams), "--report", directory_ / "r.json"},
                       directory_ / "log");
  ASSERT_TRUE(program.says("telemetry socket", kPatience)) << program.output();
  ASSERT_EQ(after(program, "a", 0, 100)["state"], "sending");
  EXPECT_EQ(ask(program, "/outrider/streams")["streams"], Json({"a: sending", "b: sending"}));

  EXPECT_EQ(ask(program, "/outrider/stop,a"), Json({{"stream", "a"}, {"state", "stopped"}}));
  const Json stopped = ask(program, "/outrider/stream,a");
  EXPECT_EQ(stopped["state"], "stopped");
  const auto b = ask(program, "/outrider/stream,b")["sent"].get<std::uint64_t>();
  after(program, "b", b, 5000);
  EXPECT_EQ(ask(program, "/outrider/stream,a")["sent"], stopped["sent"]) << "none while stopped";

  EXPECT_EQ(ask(program, "/outrider/rate,b,5%"), Json({{"stream", "b"}, {"rate", "5%"}}));
  EXPECT_EQ(ask(program, "/outrider/stream,b")["rate"], "5%");
  EXPECT_THAT(ask(program, "/outrider/rate,b,2gbit").dump(), HasSubstr("beyond the line rate"));
  EXPECT_THAT(ask(program, "/outrider/rate,b").dump(), HasSubstr("needs a stream and a rate"));
  EXPECT_THAT(ask(program, "/outrider/stop,c").dump(), HasSubstr("no such stream"));
  EXPECT_THAT(ask(program, "/outrider/stop,a").dump(), HasSubstr("is stopped already"));

  EXPECT_EQ(ask(program, "/outrider/start,a")["state"], "sending");
  after(program, "a", stopped["sent"].get<std::uint64_t>(), 100);
  ask(program, "/outrider/stop,a");
  ask(program, "/outrider/stop,b");
  // The counters stand still once everything has arrived, a look later.
  const auto all_arrived = [&](const std::string& stream) {
    const Json now = ask(program, "/outrider/stream," + stream);
    return now["sent"] == now["received"] && now["abandoned"] == 0;
  };
  while (program.running() && !(all_arrived("a") && all_arrived("b"))) {
  }
  const Json last_a = ask(program, "/outrider/stream,a");
  const Json last_b = ask(program, "/outrider/stream,b");
  const Json process = ask(program, "/outrider/generator");
  program.send(SIGINT);
  ASSERT_EQ(program.wait(kPatience), kExitInterrupted) << program.output();

  const Json report = Json::parse(read_whole(directory_ / "r.json"));
  const auto expect_same = [&](const Json& last, std::size_t stream) {
    for (const auto& [key, value] : last.items())
      if (key != "state" && key != "rate") {
        EXPECT_EQ(value, report["streams"]["streams"][stream][key]) << key;
      }
  };
  expect_same(last_a, 0);
  expect_same(last_b, 1);
  EXPECT_EQ(last_a["stops"], 2);
  EXPECT_EQ(last_a["starts"], 1);
  EXPECT_EQ(last_b["rate_changes"], 1);
  EXPECT_EQ(report["streams"]["streams"][1]["requested_bits_per_second"], 5e7);
  EXPECT_GT(process["sent"], 1000);
  EXPECT_EQ(process["sent"], report["sent"]);
  EXPECT_EQ(process["received"], report["received"]);
  EXPECT_THAT(program.output(), HasSubstr("stopped 2 times, started 1, rate changed 0"));
}

TEST_F(GeneratorSteering, HostsSayWhatTheyDo) {
  ProcessGuard program({OUTRIDER_TRAFFICGEN_PROGRAM, "--config",
                        directory_.write("c.toml", kRingHosts), "--report", directory_ / "r.json"},
                       directory_ / "log");
  ASSERT_TRUE(program.says("telemetry socket", kPatience)) << program.output();
  Json process;
  do process = ask(program, "/outrider/generator");
  while (process.contains("bursts") && process["bursts"] < 5);
  EXPECT_GT(process["delivered_bytes"]["ddl"], 100'000) << process;
  EXPECT_TRUE(process["drops"].contains("malformed")) << process;
  EXPECT_EQ(ask(program, "/outrider/streams")["streams"], Json::array());
  EXPECT_THAT(ask(program, "/outrider/stop,train").dump(), HasSubstr("no such stream"));
  program.send(SIGINT);
  EXPECT_EQ(program.wait(kPatience), kExitInterrupted) << program.output();
}

}  // namespace
}  // namespace outrider::steering_test
