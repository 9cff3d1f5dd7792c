// Goal: in mode "fair_window" every background flow has its share of what fills the path and the
// queue up to h, by the number of flows that are active, without any signal; DDL flows, and what
// may not be rewritten, are left alone. Method: a port of 200 Mbit/s and flows with a round trip of
// 3 ms (2 ms from the port to the receiver and back), packet by packet on a literal timeline.
#include <cmath>
#include <map>
#include <string>

#include "common/config/config_file.h"
#include "switch/config/config.h"
#include "tests/unit/switch/egress/port_bench.h"

namespace outrider::fair_windows_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t kSegment = 1460;
constexpr double kFrame = 1514;
constexpr std::uint16_t kTrueWindow = 32768;  // of 128 B: 4 MiB
constexpr std::uint16_t kH = 10;
constexpr Duration kDown = 2ms, kUp = 1ms;
const std::vector<std::uint8_t> kScaleOf128{3, 3, 7, 0};

/// Returns the share of one of `flows`, in whole segments [bytes].
double share(unsigned flows, Duration rtt = kDown + kUp) {
  const double path = 200e6 / 8e9 * static_cast<double>(rtt.count()) / kFrame;
  return std::ceil((path + kH) / flows) * kSegment;
}

SwitchPortConfig fair_port() {
  SwitchPortConfig c = port_config();
  c.drain_rate = BitRate{200'000'000};
  c.regulation.mode = RegulationMode::kFairWindow;
  c.regulation.predict.threshold_packets = kH;
  c.regulation.window.base_rtt = kDown + kUp;
  return c;
}

FlowKey flow(unsigned f) {
  return {0x0A000101, 0x0A000301, static_cast<std::uint16_t>(30'000 + f), 80};
}

/// Returns whether the checksum of the TCP segment in a frame is right.
bool has_right_checksum(const std::vector<std::uint8_t>& frame) {
  constexpr std::size_t kIp = 14, kTcp = kIp + 20;
  const std::size_t total = frame[kIp + 2] * 256U + frame[kIp + 3];
  const std::size_t tcp_bytes = total - (kTcp - kIp);
  std::uint32_t pseudo = kIpProtocolTcp + static_cast<std::uint32_t>(tcp_bytes);
  for (std::size_t i = kIp + 12; i < kTcp; i += 2) pseudo += frame[i] * 256U + frame[i + 1];
  return internet_checksum(std::span(frame).subspan(kTcp, tcp_bytes), pseudo) == 0;
}

struct FairBench : PortBench {
  explicit FairBench(const SwitchPortConfig& config = fair_port()) : PortBench(config) {}

  Packet* parsed(const FrameSpec& spec) {
    Packet* packet = make_packet(pool.get(), spec);
    EXPECT_EQ(parse(*packet).kind, FrameKind::kIpv4);
    meta(*packet).traffic_class = traffic_class;
    return packet;
  }
  void data(const FrameSpec& spec) {
    loop.run_until(now);
    port.enqueue(parsed(spec), false, now);
  }
  Arrival answer(const FrameSpec& spec) {
    loop.run_until(now);
    Packet* packet = parsed(spec);
    port.returns().show(*packet, now);
    const Arrival passed = arrival_of(*packet, 0, now);
    release(packet);
    return passed;
  }

  void open(unsigned f, Duration down = kDown) {
    data({.flow = flow(f), .tcp_flags = kTcpSyn, .tcp_options = kScaleOf128});
    now += down;
    answer({.flow = flow(f).reversed(),
            .acknowledgment = 1,
            .window = 2 * kSegment,
            .tcp_flags = kTcpSyn | kTcpAck,
            .tcp_options = kScaleOf128});
    now += kUp;
    data({.flow = flow(f), .sequence = 1, .acknowledgment = 1});
    send(f, 2);
    now += down;
    acknowledge(f);
    now += kUp;
  }
  void send(unsigned f, std::uint32_t segments) {
    for (std::uint32_t i = 0; i < segments; ++i, sent[f] += kSegment)
      data({.flow = flow(f), .sequence = 1 + sent[f], .payload_bytes = kSegment});
  }
  /// Acknowledges all that the flow has sent. @return the window that the answer ends up with
  double acknowledge(unsigned f, std::uint16_t window = kTrueWindow) {
    const Arrival a =
        answer({.flow = flow(f).reversed(), .acknowledgment = 1 + sent[f], .window = window});
    EXPECT_TRUE(has_right_checksum(a.bytes));
    return told[f] = std::uint32_t{a.window} << 7;
  }
  /// Plays round trips of `flows`, each with as many segments in flight.
  void play(const std::vector<unsigned>& flows, int rounds = 4, std::uint32_t segments = 20) {
    for (int r = 0; r < rounds; ++r) {
      for (const unsigned f : flows) send(f, segments);
      now += kDown;
      for (const unsigned f : flows) acknowledge(f);
      now += kUp;
    }
  }
  [[nodiscard]] std::uint64_t answers(WindowReason reason) const {
    return reports()[0].window.answers[reason];
  }

  TrafficClass traffic_class = TrafficClass::kBackground;
  Time now{};
  std::map<unsigned, std::uint32_t> sent;
  std::map<unsigned, double> told;
};

/// Expects a share, which a window field exceeds by less than its unit.
void expect_share(double told, double expected) {
  EXPECT_GE(told, expected);
  EXPECT_LT(told, expected + 128);
}

TEST(FairWindows, OneFlowFillsThePathAndH) {
  FairBench bench;
  bench.open(0);
  bench.play({0}, 1);
  expect_share(bench.told[0], share(1));
  EXPECT_EQ(bench.reports()[0].window.rewritten, 2U);
  EXPECT_EQ(bench.answers(WindowReason::kHeld), 2U);
}

TEST(FairWindows, FlowsShareEquallyFromTheirFirstPayloadOn) {
  FairBench bench;
  bench.open(0);
  bench.play({0}, 4, 40);
  bench.open(1);
  bench.play({0, 1}, 1, 40);
  for (const unsigned f : {0U, 1U}) expect_share(bench.told[f], share(2));
  for (const unsigned f : {2U, 3U, 4U}) bench.open(f);
  bench.play({0, 1, 2, 3, 4});
  for (const unsigned f : {0U, 1U, 2U, 3U, 4U}) expect_share(bench.told[f], share(5));
}

TEST(FairWindows, NoRightEdgeMovesLeft) {
  FairBench bench;
  bench.open(0);
  bench.play({0}, 1);
  const double before = bench.told[0];
  bench.open(1);
  bench.send(0, 1);
  bench.now += kDown;
  EXPECT_EQ(bench.acknowledge(0), std::ceil((before - kSegment) / 128) * 128)
      << "the edge stands, and the window is the less by what was acknowledged";
}

TEST(FairWindows, AFlowThatFallsIdleGivesItsShareBackAndTakesItAgain) {
  FairBench bench;
  for (const unsigned f : {0U, 1U}) bench.open(f);
  bench.play({0, 1}, 8);
  expect_share(bench.told[0], share(2));
  bench.play({0}, 3);
  expect_share(bench.told[0], share(2));
  bench.play({0}, 7);  // two rounds are over: 8 x (3 ms and 0.6 of h)
  expect_share(bench.told[0], share(1));
  bench.send(1, 1);
  bench.play({0}, 2, 30);
  expect_share(bench.told[0], share(2));
}

TEST(FairWindows, AFlowThatEndsGivesItsShareBack) {
  FairBench bench;
  for (const unsigned f : {0U, 1U}) bench.open(f);
  bench.play({0, 1}, 8);
  bench.data({.flow = flow(1),
              .sequence = 1 + bench.sent[1],
              .acknowledgment = 1,
              .tcp_flags = kTcpFin | kTcpAck});
  bench.play({0}, 10);
  expect_share(bench.told[0], share(1));
  bench.acknowledge(1);
  EXPECT_EQ(bench.answers(WindowReason::kClosing), 1U);
}

// A connection whose answers alone pass takes no share.
TEST(FairWindows, BareAcknowledgmentsDoNotCount) {
  FairBench bench;
  for (const unsigned f : {0U, 1U}) bench.open(f);
  for (int i = 0; i < 9; ++i) {
    bench.data({.flow = flow(1), .sequence = 1 + bench.sent[1], .acknowledgment = 1});
    bench.play({0}, 1);
  }
  expect_share(bench.told[0], share(1));
}

TEST(FairWindows, EachFlowHasItsOwnRoundTrip) {
  SwitchPortConfig config = fair_port();
  config.regulation.window.base_rtt = {};
  FairBench bench(config);
  bench.open(0);
  bench.open(1, 5ms);
  for (int i = 0; i < 6; ++i) {
    bench.send(0, 10);
    bench.now += 1ms;
    bench.send(1, 10);
    bench.now += 2ms;
    bench.acknowledge(0);
    bench.now += 4ms;
    bench.acknowledge(1);
  }
  expect_share(bench.told[0], share(2));
  expect_share(bench.told[1], share(2, 5ms + kUp));
}

TEST(FairWindows, NoFlowIsHeldBelowTheLeastSegments) {
  SwitchPortConfig config = fair_port();
  config.regulation.window.least_segments = 3;
  FairBench bench(config);
  std::vector<unsigned> all;
  for (unsigned f = 0; f < 40; ++f) all.push_back(f), bench.open(f);
  bench.play(all, 25, 3);
  ASSERT_LT(share(40), 3 * kSegment);
  for (const unsigned f : all) expect_share(bench.told[f], 3 * kSegment);
}

TEST(FairWindows, AFlowInRecoveryKeepsTwiceItsShare) {
  FairBench bench;
  bench.open(0);
  bench.play({0}, 1);
  bench.send(0, 3);
  bench.data(
      {.flow = flow(0), .sequence = 1 + bench.sent[0] - kSegment, .payload_bytes = kSegment});
  bench.now += kDown;
  const Arrival a = bench.answer({.flow = flow(0).reversed(),
                                  .acknowledgment = 1 + bench.sent[0] - kSegment,
                                  .window = kTrueWindow});
  expect_share(std::uint32_t{a.window} << 7, 2 * share(1));
  EXPECT_EQ(bench.answers(WindowReason::kRecovery), 1U);
}

TEST(FairWindows, ASmallerWindowIsLeft) {
  FairBench bench;
  bench.open(0);
  bench.play({0}, 2);
  bench.send(0, 20);
  bench.now += kDown;
  const FrameSpec small{
      .flow = flow(0).reversed(), .acknowledgment = 1 + bench.sent[0], .window = 100};
  EXPECT_EQ(bench.answer(small).bytes, bytes_of(small));
  EXPECT_EQ(bench.answers(WindowReason::kReceiver), 1U);
}

// Nobody knows the scale of its window, but it takes its share of the link.
TEST(FairWindows, AFlowWithoutAHandshakeIsLeftAndCounts) {
  FairBench bench;
  bench.open(0);
  for (int i = 0; i < 4; ++i) {
    bench.send(1, 1);
    bench.play({0}, 1);
  }
  expect_share(bench.told[0], share(2));
  EXPECT_EQ(bench.acknowledge(1), kTrueWindow << 7);
  EXPECT_EQ(bench.answers(WindowReason::kUnknown), 1U);
}

TEST(FairWindows, DdlFlowsAreNeitherHeldNorCounted) {
  FairBench bench;
  bench.open(0);
  bench.traffic_class = TrafficClass::kDdl;
  bench.open(1);
  bench.play({1});
  EXPECT_EQ(bench.told[1], kTrueWindow << 7);
  bench.traffic_class = TrafficClass::kBackground;
  bench.play({0});
  expect_share(bench.told[0], share(1));
  EXPECT_EQ(bench.reports()[0].window.flows_added, 1U);
}

TEST(FairWindows, StartsRegulateNothing) {
  FairBench bench;
  bench.open(0);
  bench.port.on_start(0, {.flow = flow(9), .sequence = 1, .threshold_packets = 3}, bench.now);
  bench.play({0});
  expect_share(bench.told[0], share(1));
  const QueueReport report = bench.reports()[0];
  EXPECT_EQ(report.starts_armed, 0U);
  EXPECT_EQ(report.regulated_ns, 0);
}

// What needs a burst would do nothing.
TEST(FairWindows, NeedsNoSignalsAndTakesNoSettingsOfBursts) {
  SwitchProcessConfig c;
  c.devices = {{"a", "net_null0"}};
  c.switches = {
      {.name = "s", .ports = {{.name = "p", .device = "a"}}, .routes = {}, .mac_routes = {}}};
  RegulationPolicy& policy = c.switches[0].ports[0].regulation;
  policy.mode = RegulationMode::kFairWindow;
  EXPECT_TRUE(validate(c).empty());
  policy.hears = Subscription::kPort;
  policy.window.beyond = {{.name = "far", .destinations = {"10.9.0.0/16"}, .rate = {1'000'000}}};
  policy.predict.from = PredictFrom::kSignals;
  policy.lead = Duration{1ms};
  c.switches[0].signals = {.accept_udp = true, .accept_from = {"10.0.0.0/8"}};
  std::vector<std::string> keys;
  for (const ConfigIssue& issue : validate(c)) keys.push_back(issue.key);
  EXPECT_EQ(keys, (std::vector<std::string>{"switch[0].port[0].regulation.hears",
                                            "switch[0].port[0].regulation.window.beyond",
                                            "switch[0].port[0].regulation.mode"}));
}

// In the 8 ms until the first answer h alone drains three times, which is no round yet.
TEST(FairWindows, CountsAllFlowsUntilTheFirstAnswer) {
  constexpr unsigned kFlows = 5;
  FairBench bench;
  for (unsigned f = 0; f < kFlows; ++f) {
    bench.send(f, 1);  // of a connection that was there before
    bench.now += 2ms;
  }
  bench.data({.flow = flow(kFlows), .tcp_flags = kTcpSyn, .tcp_options = kScaleOf128});
  bench.now += kDown;
  bench.answer({.flow = flow(kFlows).reversed(),
                .acknowledgment = 1,
                .window = 2 * kSegment,
                .tcp_flags = kTcpSyn | kTcpAck,
                .tcp_options = kScaleOf128});
  bench.now += kUp;
  bench.data({.flow = flow(kFlows), .sequence = 1, .acknowledgment = 1});
  bench.send(kFlows, 2);
  bench.now += kDown;
  expect_share(bench.acknowledge(kFlows), share(kFlows + 1));
}

// h is sixty times the path. Each of 20 flows sends its window as one train in each 1.24 ms, in
// which all of them take their turn at the port: in four round trips of 20 us only one would.
TEST(FairWindows, CountsAllFlowsThatTakeTurnsInALongQueue) {
  constexpr unsigned kFlows = 20;
  SwitchPortConfig config = fair_port();
  config.drain_rate = BitRate{1'000'000'000};
  config.regulation.predict.threshold_packets = 100;
  config.regulation.window.base_rtt = 20us;
  FairBench bench(config);
  for (unsigned f = 0; f < kFlows; ++f) bench.open(f);
  for (int cycle = 0; cycle < 30; ++cycle)
    for (unsigned f = 0; f < kFlows; ++f) {
      bench.send(f, 6);
      bench.now += 62us;
      bench.acknowledge(f);
    }
  for (unsigned f = 0; f < kFlows; ++f)
    EXPECT_NEAR(bench.told[f], 6 * kSegment, 128) << "(1.65 + 100) / 20 packets, rounded up";
}

}  // namespace
}  // namespace outrider::fair_windows_test
