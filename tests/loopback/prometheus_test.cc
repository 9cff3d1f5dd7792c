// Goal: the endpoint serves Prometheus whatever its clients do, in both programs alike, and a
// generator tells it what its report says. Method: the real programs, and clients that are slow,
// silent or gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <deque>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "common/telemetry/exit_status.h"
#include "common/telemetry/figures.h"
#include "tests/loopback/process_guard.h"
#include "tests/loopback/ring_config.h"
#include "tests/loopback/telemetry_client.h"
#include "trafficgen/apps/generator_metrics.h"
#include "trafficgen/report/generator_fields.h"
#include "trafficgen/report/report_json.h"

namespace outrider::prometheus_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

std::string listening_on(const std::string& address) {
  return "[telemetry]\nprometheus = \"" + address + "\"\n";
}

/// A program with a file in which nothing happens.
struct Program {
  const char* name;
  const char* path;
  const char* rest;  ///< of its file, after [telemetry]
  int stopped;       ///< exit status after SIGINT
};

void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }

constexpr Program kPrograms[]{
    {"Switch", OUTRIDER_SWITCH_PROGRAM,
     "[[device]]\nname = \"d\"\ndevice = \"net_ring0\"\n[[switch]]\nname = \"s\"\n"
     "[[switch.port]]\nname = \"p\"\ndevice = \"d\"\ndrain_rate = \"100mbit\"\n"
     "[[switch.route]]\nprefix = \"10.1.0.0/16\"\nport = \"p\"\n",
     kExitOk},
    {"Generator", OUTRIDER_TRAFFICGEN_PROGRAM,
     "[[device]]\nname = \"d\"\ndevice = \"net_ring0\"\n[[stream]]\nname = \"probe\"\n"
     "device = \"d\"\nreceive_device = \"d\"\nrate = \"1kpps\"\nsource = \"10.0.0.1\"\n"
     "destination = \"10.1.0.1\"\nduration = \"600s\"\n",
     kExitInterrupted}};

class Endpoint : public testing::TestWithParam<Program> {
 protected:
  /// Starts the program with an endpoint at the address.
  ProcessGuard start(const std::string& address) {
    return ProcessGuard(
        {GetParam().path, "--config",
         directory_.write("c.toml", "lcore = 0\n" + listening_on(address) + GetParam().rest)},
        directory_ / ("log" + std::to_string(++started_)));
  }
  ProcessGuard start() { return start(address_); }
  /// Scrapes until it serves metrics: the library listens for an instant before it knows them.
  std::string scrape_of(ProcessGuard& program) const {
    std::string answer;
    while ((answer = scrape(port_)).find("200 OK") == answer.npos && program.running()) {
    }
    return answer;
  }
  void stop(ProcessGuard& program) const {
    program.send(SIGINT);
    EXPECT_EQ(program.wait(kPatience), GetParam().stopped) << program.output();
  }

  ScratchDirectory directory_;
  int started_ = 0;
  std::uint16_t port_ = free_port();
  std::string address_ = "127.0.0.1:" + std::to_string(port_);
};

INSTANTIATE_TEST_SUITE_P(Programs, Endpoint, testing::ValuesIn(kPrograms),
                         [](const auto& program) { return program.param.name; });

// Clients that connect and say nothing, or begin a request and never end it, cost a time-out.
TEST_P(Endpoint, AnswersAScrapeBesideSilentClients) {
  ProcessGuard program = start();
  ASSERT_TRUE(program.says("telemetry socket", kPatience)) << program.output();
  std::deque<Socket> silent;
  for (int i = 0; i < 32; ++i) {
    const Socket& client = silent.emplace_back(AF_INET, SOCK_STREAM);
    const auto connected = [&] { return client.connect_to(loopback(port_)); };
    while (!connected() && program.running()) {
    }
    if (i % 2 == 1) client.say("GET /metrics HT");
  }
  // Prometheus gives up after 10 s.
  EXPECT_THAT(scrape(port_, std::chrono::seconds(8)), HasSubstr("200 OK"));
  for (const auto& client : silent) EXPECT_THAT(client.hear(), Not(HasSubstr("200 OK")));
  EXPECT_THAT(scrape(port_), HasSubstr("200 OK"));
  stop(program);
}

// A client that asks and never reads the answer, one that goes at once, one that sends no HTTP, and
// one whose request never ends.
TEST_P(Endpoint, AnswersAScrapeBesideHostileClients) {
  ProcessGuard program = start();
  ASSERT_THAT(scrape_of(program), HasSubstr("200 OK")) << program.output();
  std::deque<Socket> deaf;
  for (int i = 0; i < 16; ++i) {
    const Socket& client = deaf.emplace_back(AF_INET, SOCK_STREAM);
    const int little = 1;  // its answer does not fit
    setsockopt(client.fd(), SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
    ASSERT_TRUE(client.connect_to(loopback(port_)));
    client.say("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  for (int i = 0; i < 100; ++i) {
    const Socket gone(AF_INET, SOCK_STREAM);
    ASSERT_TRUE(gone.connect_to(loopback(port_)));
    if (i % 2 == 0) gone.say("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  const Socket noise(AF_INET, SOCK_STREAM), endless(AF_INET, SOCK_STREAM);
  ASSERT_TRUE(noise.connect_to(loopback(port_)) && endless.connect_to(loopback(port_)));
  noise.say(std::string(1000, '\xFF') + std::string("\r\n\0\r\n\r\n", 7));
  endless.say("GET /metrics HTTP/1.1\r\nX: " + std::string(30'000, 'x'));
  EXPECT_THAT(noise.hear(), Not(HasSubstr("200 OK")));
  EXPECT_THAT(scrape(port_, std::chrono::seconds(8)), HasSubstr("200 OK"));
  EXPECT_THAT(endless.hear(), Not(HasSubstr("200 OK")));
  EXPECT_TRUE(program.running()) << program.output();
  stop(program);
}

TEST_P(Endpoint, RefusesAPortThatIsTaken) {
  const Socket other(AF_INET, SOCK_STREAM);
  const sockaddr_in address = loopback(port_);
  const int reuse = 1;
  setsockopt(other.fd(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
  ASSERT_EQ(bind(other.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(other.fd(), 1), 0);
  ProcessGuard program = start();
  EXPECT_EQ(program.wait(kPatience), kExitEnvironment) << program.output();
  EXPECT_THAT(program.output(),
              HasSubstr("telemetry.prometheus: cannot listen on " + address_ +
                        ": Address already in use. Stop the process that uses the port, or choose "
                        "another address."));
}

TEST_P(Endpoint, RefusesAnAddressThatIsNotOfThisMachine) {
  ProcessGuard program(
      {GetParam().path, "--config",
       directory_.write("c.toml", "lcore = 0\n" + listening_on("192.0.2.1:9464") +
                                      "prometheus_remote = true\n" + GetParam().rest)},
      directory_ / "log");
  EXPECT_EQ(program.wait(kPatience), kExitEnvironment) << program.output();
  EXPECT_THAT(program.output(), HasSubstr("telemetry.prometheus: cannot listen on 192.0.2.1:9464: "
                                          "Cannot assign requested address."));
}

TEST_P(Endpoint, RefusesAnAddressThatIsNone) {
  ProcessGuard program = start("localhost:80");
  EXPECT_EQ(program.wait(kPatience), kExitUsage) << program.output();
  EXPECT_THAT(program.output(), HasSubstr("telemetry.prometheus: \"localhost:80\": must be an IPv4 "
                                          "address and a port"));
}

// The port is free at once, and the next program finds nothing in its way.
TEST_P(Endpoint, LeavesNothingBehindWhenItIsKilled) {
  for (int round = 0; round < 2; ++round) {
    ProcessGuard program = start();
    EXPECT_THAT(scrape_of(program), HasSubstr("200 OK")) << program.output();
    program.kill_now();
  }
  ProcessGuard last = start();
  EXPECT_THAT(scrape_of(last), HasSubstr("200 OK")) << last.output();
  stop(last);
  EXPECT_EQ(scrape(port_), "nobody listens");
}

std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.insert(line.substr(0, line.find('\r')));
  return lines;
}

class GeneratorScrape : public testing::Test {
 protected:
  /// Returns what it tells of the run, but for poll gaps, which go on. The library tells of
  /// scrapes.
  std::set<std::string> lines() const {
    std::set<std::string> lines = lines_of(scrape(port_));
    std::erase_if(lines, [](const std::string& line) {
      return line.find("outrider_") == line.npos || line.find("_poll_gap") != line.npos;
    });
    return lines;
  }
  /// Scrapes until the line is there and nothing changes any more for a second: a scrape asks one
  /// part of the program after the other, so the others may tell of a moment before; last ACKs and
  /// time-outs come later still.
  std::set<std::string> settled_with(ProcessGuard& program, const std::string& line) const {
    std::set<std::string> before, now;
    while (!(now = lines()).contains(line) && program.running()) {
    }
    do {
      before = now;
      std::this_thread::sleep_for(std::chrono::seconds(1));
      now = lines();
    } while (now != before && program.running());
    return now;
  }
  /// Ends the program and expects that it told what the figures say, in samples of that prefix.
  tg::GeneratorReport report_of(ProcessGuard& program) const {
    program.send(SIGINT);
    EXPECT_TRUE(program.wait(kPatience).has_value());
    return tg::generator_report_from_json(read_whole(directory_ / "r.json"));
  }
  static void expect_shown(const std::set<std::string>& lines, const MetricRecord& record) {
    std::size_t samples = 0;
    for (const auto& line : lines_of(to_prometheus({record}))) {
      if (line.empty() || line.find("_poll_gap") != line.npos) continue;  // they go on
      if (line.find("ledger_balanced") != line.npos) continue;            // the report alone knows
      EXPECT_THAT(lines, Contains(line));
      samples += !line.starts_with('#');
    }
    EXPECT_GT(samples, 5U);
  }
  /// The report's figures of the process, without those of queue pairs.
  static MetricRecord process_of(const tg::GeneratorReport& report) {
    MetricRecord record{
        .prefix = "outrider_generator_", .labels = {}, .figures = {}, .in_seconds = true};
    for (const FigureValue& v : figures_of_fields(report)) {
      if (v.part.ends_with("roce")) continue;
      record.figures.push_back(v);
      if (v.part == "totals") record.figures.back().part = "neighbours";
      if (v.part == "ends") record.figures.back().part = "stream_ends";
    }
    return record;
  }

  ScratchDirectory directory_;
  std::uint16_t port_ = free_port();
  std::string listening_ = listening_on("127.0.0.1:" + std::to_string(port_));
};

constexpr const char* kStream = R"(
[[stream]]
name = "probe"
device = "loop"
receive_device = "loop"
rate = "20kpps"
source = "10.0.0.1"
destination = "10.1.0.1"
packets = 2000
)";

TEST_F(GeneratorScrape, StreamsSayWhatTheReportSays) {
  const std::string file = "duration = \"600s\"\nlcore = 0\n" + listening_ +
                           "[[device]]\nname = \"loop\"\ndevice = \"net_ring0\"\n" + kStream +
                           "[[stream]]\nname = \"heard\"\nid = 9\nreceive_device = \"loop\"\n"
                           "source = \"10.0.0.2\"\ndestination = \"10.1.0.1\"\n";
  ProcessGuard program({OUTRIDER_TRAFFICGEN_PROGRAM, "--config", directory_.write("c.toml", file),
                        "--report", directory_ / "r.json"},
                       directory_ / "log");
  ASSERT_TRUE(program.says("telemetry socket", kPatience)) << program.output();
  const auto seen =
      settled_with(program, "outrider_stream_received_packets_total{stream=\"probe\"} 2000");
  const tg::GeneratorReport report = report_of(program);
  ASSERT_EQ(report.sent, 2000U);
  expect_shown(seen, process_of(report));
  const auto& probe = report.streams.streams.at(0);
  expect_shown(seen, {.prefix = "outrider_stream_",
                      .labels = {{"stream", "probe"}},
                      .figures = figures_of_fields<tg::StreamSentCounts>(probe),
                      .in_seconds = true});
  expect_shown(seen, {.prefix = "outrider_stream_",
                      .labels = {{"stream", "probe"}},
                      .figures = figures_of_fields<tg::StreamReceivedCounts>(probe),
                      .in_seconds = true});
  EXPECT_THAT(seen, Contains("outrider_stream_received_packets_total{stream=\"heard\"} 0"));
  EXPECT_THAT(seen, Not(Contains("outrider_stream_sent_packets_total{stream=\"heard\"} 0")));
  EXPECT_THAT(seen, Contains("outrider_device_link_up{device=\"loop\"} 1"));
  // A frame of 64 bytes takes 84 of the line.
  EXPECT_THAT(seen, Contains("outrider_device_sent_l1_bytes_total{device=\"loop\"} 168000"));
}

TEST_F(GeneratorScrape, HostsAndJobsSayWhatTheReportSays) {
  const std::string file = "duration = \"600s\"\npayload = \"pattern\"\n" + kRingJob +
                           "iterations = 3\ncompute = \"2ms\"\n" + listening_;
  ProcessGuard program({OUTRIDER_TRAFFICGEN_PROGRAM, "--config", directory_.write("c.toml", file),
                        "--report", directory_ / "r.json"},
                       directory_ / "log");
  ASSERT_TRUE(program.says("telemetry socket", kPatience)) << program.output();
  const auto seen = settled_with(program, "outrider_job_iterations_total{job=\"train\"} 3");
  const Json process = ask(program, "/outrider/generator");
  const tg::GeneratorReport report = report_of(program);
  ASSERT_GT(report.sent, 100U);
  ASSERT_GT(report.payload.verified_bytes, 100'000U) << "not only zeros are compared";
  expect_shown(seen, process_of(report));
  EXPECT_EQ(process["payload"]["verified_bytes"], report.payload.verified_bytes) << process;
  EXPECT_EQ(process["tcp_events"]["old_acks"], report.tcp_events.old_acks);
  EXPECT_EQ(process["consumed"], report.consumed);

  EXPECT_THAT(seen, Contains("outrider_job_bursts_total{job=\"train\"} " +
                             std::to_string(report.bursts.size())));
  std::uint64_t sent = 0;
  for (const auto& line : seen)
    for (const char* host : {"a", "b"}) {
      const std::string series =
          "outrider_host_sent_packets_total{host=\"" + std::string(host) + "\"} ";
      if (line.starts_with(series)) sent += std::stoull(line.substr(series.size()));
    }
  EXPECT_EQ(sent, report.sent);
}

}  // namespace
}  // namespace outrider::prometheus_test
