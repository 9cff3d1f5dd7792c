// Goal: a queue that holds windows and knows when a burst is due holds no flow before its lead,
// and then holds until the burst's last byte. Only passing packets wake it. Method: a port of
// 200 Mbit/s and a path of 3 ms (1 ms from the port to the sender and back), with a flow of
// 20 segments in flight, each acknowledged on a literal timeline.
#include "tests/unit/switch/egress/port_bench.h"

namespace outrider::window_lead_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t kSegment = 1460;
constexpr std::uint16_t kTrueWindow = 32768;  // of 128 B: 4 MiB
constexpr FlowKey kBackground{0x0A000101, 0x0A000301, 30'000, 80};
constexpr FlowKey kBurst{0x0A000101, 0x0A000301, 40'000, 5000};
/// The burst takes 6.2 ms of the port. The release begins 2.5 ms before its end.
constexpr std::uint32_t kBurstSegments = 100;
constexpr double kPipe = 200e6 / 8 * 3e-3 * kSegment / 1538;

struct WindowBench : PortBench {
  explicit WindowBench(std::optional<OrAuto<Duration>> lead) : PortBench(config(lead)) {}
  static SwitchPortConfig config(std::optional<OrAuto<Duration>> lead) {
    SwitchPortConfig c = port_config();
    c.drain_rate = BitRate{200'000'000};
    c.rate_layer = RateLayer::kL1;
    c.regulation = {.mode = RegulationMode::kWindow,
                    .recovery = Recovery::kBurstEnd,
                    .idle_end = 10ms,
                    .expiry = 40ms,
                    .lead = lead};
    c.regulation.window.rule = WindowRule::kStrict;
    return c;
  }
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
  void open() {
    const std::vector<std::uint8_t> scale{3, 3, 7, 0};
    data({.flow = kBackground, .tcp_flags = kTcpSyn, .tcp_options = scale}, Time{});
    answer({.flow = kBackground.reversed(),
            .acknowledgment = 1,
            .tcp_flags = kTcpSyn | kTcpAck,
            .tcp_options = scale},
           Time{2ms});
    data({.flow = kBackground, .sequence = 1, .acknowledgment = 1}, Time{3ms});
  }
  /// Plays a round trip of 3 ms: 20 segments, each followed by its ACK after 2 ms and its wait in
  /// the queue. @return the last window [segments]
  double round(Time now) {
    double last = 0;
    for (std::uint32_t i = 0; i < 40; ++i) {  // 61.5 us are one segment's
      const Time at = now + i * 70us;
      const std::uint32_t acknowledged = 1 + (i - 19) * kSegment + sent_;
      if (i < 20)
        data({.flow = kBackground, .sequence = 1 + sent_ + i * kSegment, .payload_bytes = kSegment},
             at);
      else
        last = answer(
            {.flow = kBackground.reversed(), .acknowledgment = acknowledged, .window = kTrueWindow},
            at + 600us);
    }
    sent_ += 20 * kSegment;
    return last / kSegment;
  }
  [[nodiscard]] std::uint64_t answers(WindowReason why) const {
    return reports()[0].window.answers[static_cast<std::size_t>(why)];
  }

 private:
  std::uint32_t sent_ = 0;
};

constexpr StartSignal announced(std::optional<Time> due) {
  return {.flow = kBurst,
          .sequence = 1,
          .threshold_packets = 10,
          .bytes = kBurstSegments * kSegment,
          .due = due};
}

TEST(WindowLead, HoldsFromTheLeadOnUntilTheLastByte) {
  WindowBench bench(6ms);
  bench.open();
  for (int i = 0; i < 7; ++i) bench.round(Time{10ms + i * 4ms});
  EXPECT_NEAR(bench.round(Time{38ms}), kPipe / kSegment, 0.5) << "no burst was ever announced";
  bench.port.on_start(0, announced(Time{60ms}), Time{42ms});
  bench.round(Time{42ms});
  bench.round(Time{46ms});
  EXPECT_NEAR(bench.round(Time{50ms}), 30, 0.5) << "announced: 1.5 times the flight, not held";
  EXPECT_EQ(bench.answers(WindowReason::kHeld), 0U) << "the last was at 53.5 ms";
  EXPECT_EQ(bench.reports()[0].regulated_ns, 0);

  // When the lead before 60 ms begins, nothing wakes the queue. Its next packet does.
  bench.round(Time{54ms});
  EXPECT_EQ(bench.answers(WindowReason::kHeld), 20U);
  EXPECT_LT(bench.round(Time{58ms}), 5) << "the edge stood";
  EXPECT_EQ(bench.answers(WindowReason::kHeld), 40U);
  for (std::uint32_t i = 0; i < kBurstSegments; ++i) {
    if (i < kBurstSegments / 2) {
      ASSERT_EQ(bench.reports()[0].window.releases, 0U) << i;
    }
    bench.data({.flow = kBurst, .sequence = 1 + i * kSegment, .payload_bytes = kSegment},
               Time{62ms + i * 62us}, TrafficClass::kDdl);
  }
  bench.round(Time{68'300us});
  EXPECT_EQ(bench.reports()[0].window.releases, 1U);
  EXPECT_EQ(bench.answers(WindowReason::kHeld), 40U);
  EXPECT_EQ(bench.answers(WindowReason::kReleasing), 20U) << "staggered";
  EXPECT_GT(bench.round(Time{80ms}), 28) << "and back";
}

// Without a due time in START, or without a lead of the queue, holding begins at once.
TEST(WindowLead, HoldsAtOnceWithoutADueTimeOrALead) {
  for (const bool has_lead : {false, true}) {
    WindowBench bench(has_lead ? std::optional<Duration>(6ms) : std::nullopt);
    bench.open();
    for (int i = 0; i < 8; ++i) bench.round(Time{10ms + i * 4ms});
    bench.port.on_start(0, announced(has_lead ? std::nullopt : std::optional(Time{60ms})),
                        Time{42ms});
    bench.round(Time{42ms});
    EXPECT_EQ(bench.answers(WindowReason::kHeld), 20U);
  }
}

// What is in flight, 1.5 times, is less than what may be while held. So the lead is a round trip.
TEST(WindowLead, IsMeasuredAndToldIfItIsAuto) {
  WindowBench bench{OrAuto<Duration>{}};
  bench.open();
  for (int i = 0; i < 8; ++i) bench.round(Time{10ms + i * 4ms});
  EXPECT_EQ(bench.port.returns().lead_for(kBurst, Time{42ms}), std::nullopt) << "not announced";
  bench.port.on_start(0, announced(Time{70ms}), Time{42ms});
  EXPECT_EQ(bench.port.returns().lead_for(kBackground, Time{42ms}), std::nullopt);
  EXPECT_EQ(bench.port.returns().lead_for(kBurst, Time{42ms}), 3ms);
  EXPECT_EQ(bench.reports()[0].window.leads_told, 1U);
  for (int i = 0; i < 6; ++i) bench.round(Time{42ms + i * 4ms});
  EXPECT_EQ(bench.answers(WindowReason::kHeld), 0U) << "the last was at 65.4 ms";
  bench.round(Time{66ms});
  EXPECT_EQ(bench.answers(WindowReason::kHeld), 20U) << "the lead has begun at 67 ms";
  EXPECT_EQ(bench.port.returns().lead_for(kBurst, Time{70ms}), 3ms)
      << "what was measured before holds on";
}

// The burst does not come. Held flows are released when its entry expires.
TEST(WindowLead, NobodyStaysHeldForABurstThatDoesNotCome) {
  WindowBench bench(6ms);
  bench.open();
  for (int i = 0; i < 8; ++i) bench.round(Time{10ms + i * 4ms});
  bench.port.on_start(0, announced(Time{60ms}), Time{42ms});
  for (int i = 0; i < 13; ++i) bench.round(Time{42ms + i * 4ms});
  EXPECT_EQ(bench.answers(WindowReason::kHeld), 200U) << "54 to 94 ms";
  EXPECT_EQ(bench.answers(WindowReason::kReleasing), 0U);
  bench.round(Time{94ms});
  EXPECT_EQ(bench.answers(WindowReason::kHeld), 200U);
  EXPECT_EQ(bench.answers(WindowReason::kReleasing), 20U);
  EXPECT_GT(bench.round(Time{110ms}), 28);
}

}  // namespace
}  // namespace outrider::window_lead_test
