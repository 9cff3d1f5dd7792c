// Goal: --live shows what the report will say. Method: the real programs over
// devices of their own; what the lines claim is added up and compared with the
// report that the same run wrote.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "common/telemetry/exit_status.h"
#include "switch/report/report_json.h"
#include "tests/loopback/process_guard.h"
#include "tests/loopback/ring_config.h"
#include "trafficgen/report/report_json.h"

namespace outrider::live_test {
using namespace sw;
using namespace tg;
namespace {

using namespace std::chrono_literals;

constexpr const char* kRequests = R"(
[[requests]]
name = "ask"
from = ["a"]
to = ["b"]
connections = 10
transport = "tcp"
request_bytes = "100B"
response_bytes = "1000B"
think = "2ms"
open_over = "10ms"
)";

constexpr const char* kStream = R"(
lcore = 0
duration = "1200ms"
[[device]]
name = "loop"
device = "net_ring0"
[[stream]]
name = "probe"
device = "loop"
receive_device = "loop"
rate = "200kpps"
source = "10.0.0.1"
destination = "10.1.0.1"
)";

constexpr const char* kSwitch = R"(
lcore = 0
[[device]]
name = "zeros"
device = "net_null0"
[[switch]]
name = "s"
[[switch.port]]
name = "p"
device = "zeros"
drain_rate = "1gbit"
[[switch.route]]
prefix = "10.0.0.0/8"
port = "p"
)";

/// "1.25 Mpps" and "812 Mbit/s" as numbers a second, counts as they are.
double number_of(const std::string& text) {
  std::istringstream in(text);
  double value = 0;
  std::string unit;
  in >> value >> unit;
  static const std::map<char, double> kPrefixes{{'k', 1e3}, {'M', 1e6}, {'G', 1e9}, {'T', 1e12}};
  const auto prefix = unit.empty() ? kPrefixes.end() : kPrefixes.find(unit[0]);
  return prefix == kPrefixes.end() ? value : value * prefix->second;
}

struct LiveLine {
  double at_seconds = 0;
  std::map<std::string, double> figures;
};

/// The lines of --live in a program's output: figures are parted by two spaces.
std::vector<LiveLine> live_lines(const std::string& output) {
  std::vector<LiveLine> lines;
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);) {
    const auto end_of_time = line.find(" s  ");
    if (end_of_time == std::string::npos || line[0] == ' ') continue;
    LiveLine parsed{.at_seconds = std::stod(line), .figures = {}};
    for (std::size_t at = end_of_time + 4; at < line.size();) {
      const auto end = std::min(line.find("  ", at), line.size());
      const std::string figure = line.substr(at, end - at);
      // "sent L2 8.62 Gbit/s", "flows open 3": a value has one word or two.
      auto value = figure.rfind(' ');
      if (std::isdigit(static_cast<unsigned char>(figure[value + 1])) == 0)
        value = figure.rfind(' ', value - 1);
      parsed.figures[figure.substr(0, value)] = number_of(figure.substr(value + 1));
      at = end + 2;
    }
    lines.push_back(parsed);
  }
  return lines;
}

/// A rate over the whole run, as the lines have it.
double total_of(const std::vector<LiveLine>& lines, const std::string& rate) {
  double total = 0;
  double before = 0;
  for (const auto& line : lines) {
    const auto figure = line.figures.find(rate);
    if (figure != line.figures.end()) total += figure->second * (line.at_seconds - before);
    before = line.at_seconds;
  }
  return total;
}

class Live : public testing::Test {
 protected:
  /// @return status and output of a whole run with --live
  std::pair<int, std::string> run(const std::string& program, const std::string& config,
                                  const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{program,  "--config", directory_.write("c.toml", config),
                                       "--live", "--report", directory_ / "report.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    ProcessGuard process(arguments, directory_ / "log");
    const auto status = process.wait(kPatience);
    return {status.value_or(-1), process.output()};
  }
  GeneratorReport report() const {
    return generator_report_from_json(read_whole(directory_ / "report.json"));
  }

  ScratchDirectory directory_;
};

/// A line a second and one for the rest; times of lines and of the report agree.
void expect_whole(const std::vector<LiveLine>& lines, std::int64_t end_ns,
                  const std::string& output) {
  ASSERT_GE(lines.size(), 3U) << output;
  for (std::size_t i = 1; i < lines.size(); ++i)
    EXPECT_GT(lines[i].at_seconds, lines[i - 1].at_seconds);
  EXPECT_NEAR(lines.back().at_seconds, static_cast<double>(end_ns) / 1e9, 0.06);
}

// Times of lines are rounded to 0.1 s and rates to three digits, hence 10 %.
constexpr double kRounding = 0.1;

TEST_F(Live, HostsShowWhatTheReportSays) {
  const auto [status, output] = run(OUTRIDER_TRAFFICGEN_PROGRAM,
                                    std::string(kRingHosts) + kRequests, {"--duration", "2500ms"});
  ASSERT_EQ(status, kExitOk) << output;
  const auto lines = live_lines(output);
  const GeneratorReport r = report();
  ASSERT_NO_FATAL_FAILURE(expect_whole(lines, r.end_ns, output));
  const auto sent = static_cast<double>(r.sent);
  EXPECT_NEAR(total_of(lines, "sent"), sent, kRounding * sent) << output;
  const auto last = lines.back().figures;
  std::size_t delivered = 0;
  std::uint64_t ddl_bytes = 0;
  for (const auto& burst : r.bursts) delivered += burst.delivered_ns != kNotYet_ns;
  for (const auto& flow : r.flows) ddl_bytes += flow.delivered_bytes;
  ASSERT_GT(r.iterations.size(), 10U);
  ASSERT_GT(r.requests.at(0).completed, 1000U);
  EXPECT_EQ(last.at("bursts"), static_cast<double>(delivered)) << output;
  EXPECT_EQ(last.at("iterations"), static_cast<double>(r.iterations.size())) << output;
  EXPECT_EQ(last.at("requests"), static_cast<double>(r.requests[0].completed)) << output;
  EXPECT_NEAR(total_of(lines, "ddl payload"), 8 * static_cast<double>(ddl_bytes),
              kRounding * 8 * static_cast<double>(ddl_bytes));
}

TEST_F(Live, StreamsShowWhatTheReportSays) {
  const auto [status, output] = run(OUTRIDER_TRAFFICGEN_PROGRAM, kStream, {"--duration", "2500ms"});
  ASSERT_EQ(status, kExitOk) << output;
  const auto lines = live_lines(output);
  const GeneratorReport r = report();
  ASSERT_NO_FATAL_FAILURE(expect_whole(lines, r.end_ns, output));
  const auto sent = static_cast<double>(r.sent);
  EXPECT_NEAR(total_of(lines, "sent"), sent, kRounding * sent) << output;
  EXPECT_NEAR(total_of(lines, "sent L2"), 8 * 64 * sent, kRounding * 8 * 64 * sent) << output;
  EXPECT_EQ(lines.back().figures.at("lost"), 0) << output;
  EXPECT_THAT(output, testing::HasSubstr("  link loop not known\n"));
}

TEST_F(Live, TheShareOfALinkIsOneOfItsRate) {
  std::string config = kStream;
  const std::string device = "device = \"net_ring0\"";
  config.replace(config.find(device), device.size(), device + "\nline_rate = \"1gbit\"");
  const auto [status, output] = run(OUTRIDER_TRAFFICGEN_PROGRAM, config, {"--duration", "2500ms"});
  ASSERT_EQ(status, kExitOk) << output;
  const auto lines = live_lines(output);
  const auto percent = 100 * 8 * 84 * static_cast<double>(report().sent) / 1e9;
  EXPECT_NEAR(total_of(lines, "link loop"), percent, kRounding * percent) << output;
}

// SIGPIPE would end the program without a report.
TEST_F(Live, AReaderOfTheOutputThatGoesDoesNotEndTheRun) {
  const std::string fifo = directory_ / "output";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const int reader = open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  ProcessGuard program(
      {OUTRIDER_TRAFFICGEN_PROGRAM, "--config", directory_.write("c.toml", kStream), "--live",
       "--report", directory_ / "report.json"},
      fifo);
  pollfd output{.fd = reader, .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&output, 1, std::chrono::milliseconds(kPatience).count()), 1);
  close(reader);
  EXPECT_EQ(program.wait(kPatience), kExitOk);
  EXPECT_GE(report().end_ns, 1'200'000'000) << "the whole duration";
}

TEST_F(Live, APreviewIsReplayedWhole) {
  const std::string pcap = directory_ / "p.pcap";
  ProcessGuard preview(
      {OUTRIDER_TRAFFICGEN_PROGRAM, "--config", directory_.write("c.toml", kStream), "--duration",
       "50ms", "--preview", pcap},
      directory_ / "preview");
  ASSERT_EQ(preview.wait(kPatience), kExitOk) << preview.output();
  EXPECT_THAT(preview.output(), testing::HasSubstr("10000 frames in " + pcap));
  ProcessGuard replay({OUTRIDER_TRAFFICGEN_PROGRAM, "replay", "--file", pcap, "--device",
                       "net_ring0", "--lcore", "0", "--speed", "0.04", "--live"},
                      directory_ / "replay");
  ASSERT_EQ(replay.wait(kPatience), kExitOk) << replay.output();
  EXPECT_THAT(replay.output(), testing::HasSubstr("sent 10000 packets"));
  const auto lines = live_lines(replay.output());
  ASSERT_GE(lines.size(), 2U) << replay.output();
  EXPECT_NEAR(total_of(lines, "sent"), 10'000, kRounding * 10'000) << replay.output();
}

TEST_F(Live, TheSwitchShowsWhatTheReportSays) {
  const auto [status, output] = run(OUTRIDER_SWITCH_PROGRAM, kSwitch, {"--duration", "2500ms"});
  ASSERT_EQ(status, kExitOk) << output;
  const auto lines = live_lines(output);
  const SwitchReport r = switch_report_from_json(read_whole(directory_ / "report.json"));
  ASSERT_NO_FATAL_FAILURE(expect_whole(lines, r.end_ns, output));
  const auto received = static_cast<double>(r.received);
  EXPECT_NEAR(total_of(lines, "received"), received, kRounding * received) << output;
  std::uint64_t dropped = 0;
  for (const auto& by_reason : r.drops.values) dropped += by_reason[DropReason::kNotIpv4];
  ASSERT_GT(dropped, 0U) << output;
  EXPECT_EQ(lines.back().figures.at("dropped not_ipv4"), static_cast<double>(dropped)) << output;
}

/// Frames of a stream, so that a queue has something to show: the ring gives back to the
/// switch what it sends, until the TTL runs out.
TEST_F(Live, TheSwitchShowsItsQueues) {
  const std::string pcap = directory_ / "p.pcap";
  ProcessGuard preview(
      {OUTRIDER_TRAFFICGEN_PROGRAM, "--config", directory_.write("g.toml", kStream), "--duration",
       "1ms", "--preview", pcap},
      directory_ / "preview");
  ASSERT_EQ(preview.wait(kPatience), kExitOk) << preview.output();
  std::string config = kSwitch;
  const std::string device = "net_null0";
  config.replace(config.find(device), device.size(),
                 "net_pcap0,rx_pcap=" + pcap + ",tx_pcap=/dev/null,infinite_rx=1");
  const auto [status, output] = run(OUTRIDER_SWITCH_PROGRAM, config, {"--duration", "1500ms"});
  ASSERT_EQ(status, kExitOk) << output;
  const SwitchReport r = switch_report_from_json(read_whole(directory_ / "report.json"));
  std::uint64_t dropped = 0;
  for (const auto& by_reason : r.queues.at(0).drops.values)
    dropped += by_reason[DropReason::kTailPackets];
  ASSERT_GT(dropped, 0U) << output;
  const std::size_t last = output.rfind("\n  s.p[0]  waiting ");
  ASSERT_NE(last, std::string::npos) << output;
  EXPECT_THAT(output.substr(last),
              testing::HasSubstr("  dropped tail_packets " + std::to_string(dropped) + "  "));
}

TEST_F(Live, NothingIsShownUnasked) {
  const std::string config = directory_.write("c.toml", kStream);
  ProcessGuard process({OUTRIDER_TRAFFICGEN_PROGRAM, "--config", config}, directory_ / "log");
  EXPECT_EQ(process.wait(kPatience), kExitOk);
  EXPECT_TRUE(live_lines(process.output()).empty()) << process.output();
}

}  // namespace
}  // namespace outrider::live_test
