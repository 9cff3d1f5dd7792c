// Goal: on 1, 2 and 4 lcores the program forwards the same packets, each flow in order, and
// its ledger balances. Method: the real program with real threads; what comes in is read
// from files once, what leaves is written to files.
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <vector>

#include "common/telemetry/exit_status.h"
#include "switch/report/report_json.h"
#include "tests/loopback/pcap_file.h"
#include "tests/loopback/process_guard.h"
#include "tests/loopback/test_cpus.h"
#include "tests/support/frames.h"

namespace outrider::lcores_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kPorts = 4;
constexpr std::uint32_t kFlows = 32;
/// From each receive queue: what its lcore hands to another never fills the ring between.
constexpr std::uint32_t kPacketsPerQueue = 900;

/// Flow f comes in by port f % 4 and leaves by port f / 4 % 4; port 0 has two receive
/// queues, between which its flows are split.
std::string capture_of(std::uint32_t port, std::uint32_t half, std::uint32_t halves) {
  std::vector<PcapFrame> frames;
  std::vector<std::uint32_t> flows;
  for (std::uint32_t f = port; f < kFlows; f += kPorts)
    if (f / kPorts % halves == half) flows.push_back(f);
  for (std::uint32_t i = 0; i < kPacketsPerQueue; ++i) {
    const std::uint32_t f = flows[i % flows.size()];
    const std::uint32_t to = f / kPorts % kPorts;
    frames.push_back(bytes_of({.flow = {0x0A000001 + (port << 8), 0x0A000002 + (to << 8),
                                        static_cast<std::uint16_t>(1000 + f), 80},
                               .sequence = i / static_cast<std::uint32_t>(flows.size())}));
  }
  return pcap_of(frames);
}

/// Flow -> its sequence numbers in the order of the file.
using Flows = std::map<std::uint16_t, std::vector<std::uint32_t>>;

Flows flows_in(const std::string& capture) {
  Flows flows;
  for (const auto& frame : frames_of(capture)) {
    const auto octet = [&](std::size_t i) { return std::uint32_t{frame[i]}; };
    flows[static_cast<std::uint16_t>(octet(34) << 8 | octet(35))].push_back(
        octet(38) << 24 | octet(39) << 16 | octet(40) << 8 | octet(41));
  }
  return flows;
}

enum class Scene { kMark, kWindow };  ///< windows: a receive queue each, on their port's lcore

std::string config(const ScratchDirectory& scratch, std::uint32_t lcores,
                   Scene scene = Scene::kMark) {
  const bool windows = scene == Scene::kWindow;
  std::ostringstream c;
  c << "more_lcores = [";
  for (std::uint32_t i = 1; i < lcores; ++i) c << (i == 1 ? "0" : ", 0");
  c << "]\n";
  for (std::uint32_t p = 0; p < kPorts; ++p) {
    c << "[[device]]\nname = \"d" << p << "\"\n";
    if (windows || p == 0) c << "rx_queues = " << (windows ? 1 : 2) << "\n";
    c << "device = \"net_pcap" << p << ",rx_pcap=" << scratch / ("in" + std::to_string(p));
    if (p == 0 && !windows) c << ",rx_pcap=" << scratch / "in0b";
    c << ",tx_pcap=" << scratch / ("out" + std::to_string(p)) << "\"\n";
  }
  c << "[[switch]]\nname = \"sw\"\n[switch.queue]\nlimit_packets = 10000\n"
    << "[switch.marker]\nthreshold_packets = 9999\n";
  if (windows)
    c << "[switch.signals]\naccept_udp = true\naccept_from = "
         "[\"10.0.0.0/8\"]\n[switch.regulation]\nmode = \"window\"\nrecovery = "
         "\"burst_end\"\n";
  for (std::uint32_t p = 0; p < kPorts; ++p)
    c << "[[switch.port]]\nname = \"p" << p << "\"\ndevice = \"d" << p
      << "\"\ndrain_rate = \"10gbit\"\n[[switch.route]]\nprefix = \"10.0." << p
      << ".0/24\"\nport = \"p" << p << "\"\n";
  return c.str();
}

std::vector<Flows> run(std::uint32_t lcores, Scene scene = Scene::kMark) {
  const ScratchDirectory scratch;
  const std::uint32_t halves = scene == Scene::kWindow ? 1 : 2;
  scratch.write("in0", capture_of(0, 0, halves));
  if (halves == 2) scratch.write("in0b", capture_of(0, 1, halves));
  for (std::uint32_t p = 1; p < kPorts; ++p)
    scratch.write("in" + std::to_string(p), capture_of(p, 0, 1));
  ProcessGuard process({OUTRIDER_SWITCH_PROGRAM, "--config",
                        scratch.write("switch.toml", config(scratch, lcores, scene)), "--duration",
                        "1s", "--report", scratch / "report.json", "--eal", shared_lcores(lcores)},
                       scratch / "log");
  EXPECT_EQ(process.wait(kPatience), kExitOk) << process.output();
  const SwitchReport report = switch_report_from_json(read_whole(scratch / "report.json"));
  EXPECT_TRUE(report.ledger_balanced);
  EXPECT_EQ(report.received, (kPorts - 1 + halves) * kPacketsPerQueue);
  EXPECT_EQ(report.transmitted, report.received) << process.output();
  std::vector<Flows> left;
  for (std::uint32_t p = 0; p < kPorts; ++p)
    left.push_back(flows_in(read_whole(scratch / ("out" + std::to_string(p)))));
  return left;
}

TEST(Lcores, OneTwoAndFourForwardTheSame) {
  const auto one = run(1);
  std::size_t flows = 0;
  for (const auto& port : one) {
    flows += port.size();
    for (const auto& [flow, sequences] : port)
      for (std::uint32_t i = 0; i < sequences.size(); ++i)
        ASSERT_EQ(sequences[i], i) << "flow " << flow;
  }
  EXPECT_EQ(flows, kFlows);
  EXPECT_EQ(run(2), one);
  EXPECT_EQ(run(4), one);
}

// Every packet that comes in by a port passes that port's windows, and leaves by another lcore's.
TEST(Lcores, OneTwoAndFourForwardTheSameBesideWindows) {
  const auto one = run(1, Scene::kWindow);
  std::size_t flows = 0;
  for (const auto& port : one) flows += port.size();
  EXPECT_EQ(flows, kFlows);
  EXPECT_EQ(run(2, Scene::kWindow), one);
  EXPECT_EQ(run(4, Scene::kWindow), one);
}

TEST(Lcores, WhatTheyCannotShareIsRefused) {
  const ScratchDirectory scratch;
  std::string text = config(scratch, 2);
  text.insert(text.find("[switch.queue]"),
              "[switch.l2]\nlearning = true\n[switch.classes]\nlearned_flows = 64\n"
              "[switch.buffer]\ntotal_bytes = \"1MB\"\n");
  ProcessGuard process({OUTRIDER_SWITCH_PROGRAM, "--config", scratch.write("switch.toml", text)},
                       scratch / "log");
  EXPECT_EQ(process.wait(kPatience), kExitUsage);
  const std::string said = process.output();
  EXPECT_NE(said.find("classes.learned_flows: 64: needs one lcore"), said.npos) << said;
  EXPECT_NE(said.find("buffer.total_bytes: 1000000 bytes: needs one lcore"), said.npos) << said;
  EXPECT_EQ(said.find("l2.learning"), said.npos) << "lcores tell each other";
}

TEST(Lcores, FewerThanWantedAreRefused) {
  const ScratchDirectory scratch;
  for (std::uint32_t p = 0; p < kPorts; ++p)
    scratch.write("in" + std::to_string(p), capture_of(p, 0, 1));
  scratch.write("in0b", capture_of(0, 1, 2));
  ProcessGuard process(
      {OUTRIDER_SWITCH_PROGRAM, "--config", scratch.write("switch.toml", config(scratch, 3)),
       "--eal", shared_lcores(2)},
      scratch / "log");
  EXPECT_EQ(process.wait(kPatience), kExitEnvironment);
  EXPECT_NE(process.output().find("3 are wanted and the EAL has 2"), std::string::npos)
      << process.output();
}

}  // namespace
}  // namespace outrider::lcores_test
