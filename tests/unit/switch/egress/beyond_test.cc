// Goal: a port holds windows for the bottlenecks that it leads to, each for the flows beyond it
// alone; it says so where it cannot, and nobody stays held. Method: a port of 1 Gbit/s that leads
// to bottlenecks of 200 and 100 Mbit/s, and a path of 3 ms (1 ms from the port to the sender and
// back), with flows of 20 segments in flight on a literal timeline.
#include <map>

#include "tests/unit/switch/egress/port_bench.h"

namespace outrider::beyond_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t kSegment = 1460;
constexpr std::uint16_t kTrueWindow = 32768;                   // of 128 B: 4 MiB
constexpr FlowKey kNear{0x0A000101, 0x0A000301, 30'000, 80};   // beyond "near" alone
constexpr FlowKey kFar{0x0A000101, 0x0A000381, 30'000, 80};    // beyond "near" and "far"
constexpr FlowKey kAside{0x0A000101, 0x0A000501, 30'000, 80};  // beyond none
constexpr FlowKey kBurst{0x0A000102, 0x0A000302, 40'000, 5000};
constexpr std::uint32_t kBurstSegments = 100;
constexpr double kPipe = 200e6 / 8 * 3e-3 / 1538;  // of the nearer bottleneck [segments]

SwitchPortConfig two_beyond() {
  SwitchPortConfig c = port_config();
  c.rate_layer = RateLayer::kL1;
  c.regulation = {.mode = RegulationMode::kWindow,
                  .recovery = Recovery::kBurstEnd,
                  .idle_end = 10ms,
                  .expiry = 40ms};
  c.regulation.window.rule = WindowRule::kStrict;
  c.regulation.window.beyond = {
      {.name = "near", .destinations = {"10.0.3.0/24"}, .rate = {200'000'000}},
      {.name = "far", .destinations = {"10.0.3.128/25"}, .rate = {100'000'000}}};
  return c;
}

struct BeyondBench : PortBench {
  explicit BeyondBench(const SwitchPortConfig& config = two_beyond()) : PortBench(config) {}
  Packet* parsed(const FrameSpec& spec, TrafficClass c) {
    Packet* packet = make_packet(pool.get(), spec);
    EXPECT_EQ(parse(*packet).kind, FrameKind::kIpv4);
    meta(*packet).traffic_class = c;
    return packet;
  }
  void data(const FrameSpec& spec, Time now, TrafficClass c = TrafficClass::kBackground) {
    loop.run_until(now);
    port.enqueue(parsed(spec, c), false, now);
  }
  /// Passes an answer. @return the window that it carries afterwards [bytes]
  std::uint32_t answer(const FrameSpec& spec, Time now) {
    loop.run_until(now);
    Packet* packet = parsed(spec, TrafficClass::kBackground);
    port.returns().show(*packet, now);
    const std::uint32_t window = arrival_of(*packet, 0, now).window;
    release(packet);
    return window << 7;
  }
  void open(const std::vector<FlowKey>& flows, Time from) {
    const std::vector<std::uint8_t> scale{3, 3, 7, 0};
    for (const auto& flow : flows)
      data({.flow = flow, .tcp_flags = kTcpSyn, .tcp_options = scale}, from);
    for (const auto& flow : flows)
      answer({.flow = flow.reversed(),
              .acknowledgment = 1,
              .tcp_flags = kTcpSyn | kTcpAck,
              .tcp_options = scale},
             from + 2ms);
    for (const auto& flow : flows)
      data({.flow = flow, .sequence = 1, .acknowledgment = 1}, from + 3ms);
  }
  /// Sends 20 segments.
  void send(const FlowKey& flow, Time now) {
    for (std::uint32_t i = 0; i < 20; ++i, sent_[flow.destination_address] += kSegment)
      data({.flow = flow,
            .sequence = 1 + sent_[flow.destination_address],
            .payload_bytes = kSegment},
           now);
  }
  /// Acknowledges the last 20 segments, each of them. @return the last window [segments]
  double acknowledge(const FlowKey& flow, Time now) {
    double last = 0;
    for (std::uint32_t left = 20; left-- > 0;)
      last = answer({.flow = flow.reversed(),
                     .acknowledgment = 1 + sent_[flow.destination_address] - left * kSegment,
                     .window = kTrueWindow},
                    now);
    return last / kSegment;
  }
  /// Plays a round trip of 3 ms: 20 segments, each followed by its ACK after 2 ms. @return the last
  /// window [segments]
  double round(const FlowKey& flow, Time now) {
    send(flow, now);
    return acknowledge(flow, now + 2ms);
  }
  /// Opens flows and lets each send for more than a bandwidth-delay product, until 40 ms later.
  void cruise(const std::vector<FlowKey>& flows, Time from = {}) {
    open(flows, from);
    for (int i = 0; i < 8; ++i) {
      const Time at = from + 10ms + i * 4ms;
      for (const auto& flow : flows) send(flow, at);
      for (const auto& flow : flows) acknowledge(flow, at + 2ms);
    }
  }
  void burst(Time from) {
    for (std::uint32_t i = 0; i < kBurstSegments; ++i)
      data({.flow = kBurst, .sequence = 1 + i * kSegment, .payload_bytes = kSegment},
           from + i * 62us, TrafficClass::kDdl);
  }
  [[nodiscard]] RemoteReport beyond(std::size_t i) const { return reports()[0].beyond_by_name[i]; }
  [[nodiscard]] std::uint64_t held(std::size_t i) const {
    return beyond(i).window.answers[WindowReason::kHeld];
  }

 private:
  std::map<std::uint32_t, std::uint32_t> sent_;
};

constexpr StartSignal announced(FlowKey flow = kBurst) {
  return {.flow = flow, .sequence = 1, .threshold_packets = 10, .bytes = kBurstSegments * kSegment};
}

TEST(Beyond, HoldsFlowsToTheBottleneckOfTheBurstAndNoOthers) {
  BeyondBench bench;
  bench.cruise({kNear, kAside});
  const double aside_before = bench.round(kAside, Time{42ms});
  bench.port.on_start(0, announced(), Time{46ms});
  EXPECT_LT(bench.round(kNear, Time{46ms}), kPipe - 18) << "20 are acknowledged, the edge stands";
  bench.round(kNear, Time{50ms});
  EXPECT_LT(bench.round(kNear, Time{54ms}), 5);
  EXPECT_EQ(bench.round(kAside, Time{58ms}), aside_before);
  EXPECT_EQ(bench.held(0), 60U);
  EXPECT_EQ(bench.held(1), 0U) << "the burst does not go there";
  const auto own = bench.reports()[0];
  EXPECT_EQ(own.starts_armed, 0U) << "the port's own queue is not where the burst will wait";
  EXPECT_EQ(own.window.answers[WindowReason::kHeld], 0U);
  EXPECT_EQ(own.beyond.starts_armed, 1U);
  EXPECT_EQ(own.beyond.held, 60U);
  EXPECT_EQ(own.regulated_ns, 0);
}

TEST(Beyond, ReleasesWithTheLastByte) {
  BeyondBench bench;
  bench.cruise({kNear});
  bench.port.on_start(0, announced(), Time{46ms});
  bench.round(kNear, Time{46ms});
  bench.burst(Time{50ms});
  EXPECT_EQ(bench.beyond(0).regulator.recovered_burst_end, 1U);
  EXPECT_EQ(bench.beyond(0).entries_left, 0U);
  bench.round(kNear, Time{58ms});
  EXPECT_EQ(bench.beyond(0).window.releases, 1U);
  EXPECT_GT(bench.round(kNear, Time{80ms}), 28) << "and back";
}

// The burst does not come: the entry expires.
TEST(Beyond, NobodyStaysHeldForABurstThatDoesNotCome) {
  BeyondBench bench;
  bench.cruise({kNear});
  bench.port.on_start(0, announced(), Time{46ms});
  for (int i = 0; i < 10; ++i) bench.round(kNear, Time{46ms + i * 4ms});
  EXPECT_EQ(bench.held(0), 200U) << "46 to 86 ms";
  bench.round(kNear, Time{86ms});
  EXPECT_EQ(bench.held(0), 200U);
  EXPECT_EQ(bench.beyond(0).regulator.expired, 1U);
  EXPECT_GT(bench.round(kNear, Time{110ms}), 28);
}

// A burst to the nearer bottleneck holds what goes on to the farther one as well, but not the other
// way round.
TEST(Beyond, BottlenecksInARowHoldTheFlowsOfBoth) {
  BeyondBench bench;
  bench.cruise({kNear, kFar});
  bench.port.on_start(0, announced(), Time{46ms});
  bench.round(kFar, Time{46ms});
  bench.round(kFar, Time{50ms});
  EXPECT_LT(bench.round(kFar, Time{54ms}), 5);
  EXPECT_EQ(bench.held(0), 60U);
  EXPECT_EQ(bench.held(1), 0U);
}

TEST(Beyond, ABurstIsAnnouncedToAllThatItPasses) {
  BeyondBench bench;
  bench.cruise({kNear, kFar});
  FlowKey to_far = kBurst;
  to_far.destination_address = kFar.destination_address;
  bench.port.on_start(0, announced(to_far), Time{46ms});
  for (const auto& flow : {kFar, kNear}) bench.send(flow, Time{46ms});
  EXPECT_LT(bench.acknowledge(kFar, Time{48ms}), 12) << "20 less than the 30 of the farther one";
  bench.acknowledge(kNear, Time{48ms});
  EXPECT_EQ(bench.held(0), 40U);
  EXPECT_EQ(bench.held(1), 20U) << "the other flow does not go there";
  EXPECT_EQ(bench.beyond(0).regulator.starts_armed, 1U);
  EXPECT_EQ(bench.beyond(1).regulator.starts_armed, 1U);
}

// Of a flow whose answers take another path nothing is known, so nothing is held. The report says
// how many there are, each once.
TEST(Beyond, SaysWhichFlowsItCannotHold) {
  BeyondBench bench;
  const std::vector<std::uint8_t> scale{3, 3, 7, 0};
  bench.data({.flow = kNear, .tcp_flags = kTcpSyn, .tcp_options = scale}, Time{});
  bench.data({.flow = kNear, .sequence = 1, .acknowledgment = 1}, Time{3ms});
  EXPECT_EQ(bench.beyond(0).window.flows_without_answers, 0U) << "no data yet";
  bench.port.on_start(0, announced(), Time{4ms});
  for (std::uint32_t i = 0; i < 50; ++i)
    bench.data({.flow = kNear, .sequence = 1 + i * kSegment, .payload_bytes = kSegment},
               Time{5ms + i * 62us});
  EXPECT_EQ(bench.beyond(0).window.flows_without_answers, 1U);
  EXPECT_EQ(bench.reports()[0].beyond.flows_without_answers, 1U);
  EXPECT_EQ(bench.reports()[0].beyond.held, 0U);
  bench.cruise({kFar}, Time{10ms});
  EXPECT_EQ(bench.reports()[0].beyond.flows_without_answers, 1U) << "its answers come back";
}

// A bottleneck may have an h of its own, and what is in flight beyond the port is seen by it.
TEST(Beyond, KnowsWhatIsInFlightBeyondThePort) {
  BeyondBench bench;
  bench.cruise({kNear});
  EXPECT_EQ(bench.beyond(0).in_flight_bytes, 0U);
  for (std::uint32_t i = 0; i < 7; ++i)
    bench.data({.flow = kNear, .sequence = 1 + (160 + i) * kSegment, .payload_bytes = kSegment},
               Time{60ms});
  EXPECT_EQ(bench.beyond(0).in_flight_bytes, 7U * kSegment);
  EXPECT_EQ(bench.beyond(1).in_flight_bytes, 0U);
}

}  // namespace
}  // namespace outrider::beyond_test
