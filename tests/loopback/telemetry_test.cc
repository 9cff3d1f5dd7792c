// Goal: DPDK telemetry, Prometheus and the exit report say the same. Method: the real program
// on a device that brings a thousand frames and then nothing, so that its counters stand
// still; what each tells is compared field by field.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "common/telemetry/exit_status.h"
#include "switch/control/metrics.h"
#include "switch/report/report_json.h"
#include "tests/loopback/process_guard.h"
#include "tests/loopback/telemetry_client.h"

namespace outrider::telemetry_test {
using namespace sw;
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* kStream = R"(
lcore = 0
duration = "1ms"
[[device]]
name = "loop"
device = "net_ring0"
[[stream]]
name = "probe"
device = "loop"
receive_device = "loop"
rate = "1mpps"
source = "10.0.0.1"
destination = "10.1.0.1"
)";

class Telemetry : public testing::Test {
 protected:
  void SetUp() override {
    ProcessGuard preview({OUTRIDER_TRAFFICGEN_PROGRAM, "--config",
                          directory_.write("g.toml", kStream), "--preview", directory_ / "p.pcap"},
                         directory_ / "preview");
    ASSERT_EQ(preview.wait(kPatience), kExitOk) << preview.output();
  }
  std::string config() const {
    return directory_.write("s.toml", R"(
lcore = 0
[telemetry]
prometheus = "127.0.0.1:)" + std::to_string(port_) +
                                          R"("
[[device]]
name = "frames"
device = "net_pcap0,rx_pcap=)" + directory_ / "p.pcap" +
                                          R"(,tx_pcap=/dev/null"
[[switch]]
name = "s"
[switch.queue]
limit_packets = 20
[switch.marker]
kind = "tail_drop"
[[switch.port]]
name = "p"
device = "frames"
drain_rate = "100mbit"
[[switch.route]]
prefix = "10.1.0.0/16"
port = "p"
)");
  }

  ScratchDirectory directory_;
  std::uint16_t port_ = free_port();
};

std::set<std::string> samples(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if ((line.starts_with("outrider_switch_") || line.starts_with("outrider_queue_")) &&
        !line.starts_with("outrider_switch_longest_poll_gap"))
      lines.insert(line.substr(0, line.find('\r')));
  return lines;
}

TEST_F(Telemetry, SaysWhatTheReportSays) {
  ProcessGuard sw(
      {OUTRIDER_SWITCH_PROGRAM, "--config", config(), "--report", directory_ / "r.json", "--live"},
      directory_ / "log");
  ASSERT_TRUE(sw.says("transmitted 0.00 pps", kPatience)) << sw.output() << "frames have passed";
  const Json port = ask(sw, "/outrider/port,s.p");
  const Json queue = ask(sw, "/outrider/queue,p,0");
  const Json process = ask(sw, "/outrider/switch");
  const Json drops = ask(sw, "/outrider/drops");
  const Json ports = ask(sw, "/outrider/ports");
  const Json devices = ask(sw, "/outrider/devices");
  const Json nowhere = ask(sw, "/outrider/queue,p,7");
  const Json reload = ask(sw, "/outrider/reload");
  const std::string http = scrape(port_);
  sw.send(SIGINT);
  ASSERT_EQ(sw.wait(kPatience), kExitOk) << sw.output();
  const std::string text = read_whole(directory_ / "r.json");
  const Json report = Json::parse(text);

  EXPECT_EQ(report["received"], 1000);
  ASSERT_GT(drops["background"]["tail_packets"], 0) << "not only zeros are compared";
  EXPECT_EQ(drops["background"]["tail_packets"], report["drops"]["background"]["tail_packets"]);
  ASSERT_GT(queue.size(), 20U) << queue;
  for (const auto& [key, value] : queue.items()) EXPECT_EQ(value, report["queues"][0][key]) << key;
  ASSERT_GT(process.size(), 10U) << process;
  for (const char* moves : {"end_ns", "longest_poll_gap_ns", "busy_ns", "ledger_balanced"})
    EXPECT_TRUE(process.contains(moves)) << moves;
  for (const auto& [key, value] : process.items()) {
    const bool moves = key == "end_ns" || key == "longest_poll_gap_ns" || key == "busy_ns";
    if (moves || key == "ledger_balanced") continue;
    EXPECT_EQ(value, report[key].is_null() ? Json("not counted") : report[key]) << key;
  }
  EXPECT_EQ(port["queue0"]["resident"], 0);
  EXPECT_EQ(ports["ports"], Json({"s.p"}));
  EXPECT_EQ(devices["device0"]["name"], "frames");
  EXPECT_THAT(nowhere.dump(), HasSubstr("no such queue"));
  EXPECT_EQ(reload["changed"], Json::array());

  EXPECT_THAT(http, HasSubstr("200 OK"));
  EXPECT_THAT(http, HasSubstr("# TYPE outrider_queue_packets_total counter"));
  const auto seen = samples(http);
  ASSERT_GT(seen.size(), 100U) << http;
  EXPECT_THAT(seen, testing::ContainerEq(
                        samples(to_prometheus(metrics_of(switch_report_from_json(text), {})))));
  EXPECT_THAT(http,
              HasSubstr("outrider_port_link_up{switch=\"s\",port=\"p\",device=\"frames\"} 1"));
  EXPECT_THAT(http, HasSubstr("outrider_pool_free_buffers{pool=\"packets\"} "));
  EXPECT_THAT(http, HasSubstr("outrider_lcore_busy_ns_total{lcore="));
}

TEST_F(Telemetry, CapturesWhatLeavesAPort) {
  const std::string file = directory_ / "out.pcapng";
  ProcessGuard sw({OUTRIDER_SWITCH_PROGRAM, "--config", config(), "--report", directory_ / "r.json",
                   "--capture", "s.p=" + file, "--capture-packets", "15", "--live"},
                  directory_ / "log");
  ASSERT_TRUE(sw.says("transmitted 0.00 pps", kPatience)) << sw.output();
  sw.send(SIGINT);
  ASSERT_EQ(sw.wait(kPatience), kExitOk) << sw.output();
  EXPECT_THAT(sw.output(), HasSubstr("15 packets in " + file + ", missed 0"));
  const std::string bytes = read_whole(file);
  EXPECT_TRUE(bytes.starts_with("\x0A\x0D\x0D\x0A"));
  EXPECT_THAT(bytes, HasSubstr("left 19 packets"));
  ProcessGuard tcpdump({"/usr/bin/tcpdump", "-n", "-r", file}, directory_ / "tcpdump");
  const auto status = tcpdump.wait(kPatience);
  if (status == 127) GTEST_SKIP() << "tcpdump is not there to read the file";
  EXPECT_EQ(status, 0) << tcpdump.output();
  std::size_t packets = 0;
  std::istringstream lines(tcpdump.output());
  for (std::string line; std::getline(lines, line);)
    packets += line.find("10.0.0.1") != line.npos && line.find("10.1.0.1") != line.npos;
  EXPECT_EQ(packets, 15U) << tcpdump.output();
}

TEST_F(Telemetry, RefusesToCaptureWhatIsNot) {
  const auto refusal = [&](const std::string& capture) {
    ProcessGuard sw({OUTRIDER_SWITCH_PROGRAM, "--config", config(), "--capture", capture},
                    directory_ / "log");
    EXPECT_EQ(sw.wait(kPatience), kExitUsage) << sw.output();
    return sw.output();
  };
  EXPECT_THAT(refusal("s.q=" + (directory_ / "x")), HasSubstr("no such port; there are s.p"));
  EXPECT_THAT(refusal("s.p"), HasSubstr("must be SWITCH.PORT=FILE"));
  EXPECT_THAT(refusal("s.p=" + (directory_ / "no/x")), HasSubstr("does not exist"));
}

}  // namespace
}  // namespace outrider::telemetry_test
