// Goal: lossless queues pause the neighbour that fills them, obey its pauses, and account for every
// packet, whatever the neighbour sends. Method: one switch, frames by hand, times by hand.
#include <gtest/gtest.h>

#include "common/net/pause_frame.h"
#include "tests/unit/switch/switch_bench.h"

namespace outrider::pfc_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using B = SwitchBench;

constexpr Duration kPauseFrameTime = 480ns;  // 60 B at 1 Gbit/s
constexpr std::uint16_t kQuanta = 1000;      // 512 us

LosslessConfig lossless() {
  return {.xoff_bytes = 3000,
          .xon_bytes = 1000,
          .headroom_bytes = 2000,
          .priority = 3,
          .pause_quanta = kQuanta};
}

/// Queue 0 of all ports is lossless, queue 1 has the background. Nothing is marked.
SwitchConfig lossless_switch() {
  SwitchConfig c = B::config();
  c.classes.background_queue = 1;
  for (auto& port : c.ports) {
    port.regulation = {};
    port.marker.kind = MarkerKind::kTailDrop;
    port.queues.assign(2, {port.queue, port.marker, port.regulation});
    port.queues[0].queue.lossless = lossless();
  }
  return c;
}

std::vector<std::uint8_t> pause_bytes(std::uint8_t priority, std::uint16_t quanta) {
  std::vector<std::uint8_t> bytes(kPauseFrameBytes);
  PauseFrame frame;
  frame.set(priority, quanta);
  encode(frame, MacAddress{2, 0, 0, 0, 0, 9}, bytes);
  return bytes;
}

struct PfcBench : B {
  explicit PfcBench(const SwitchConfig& c = lossless_switch()) : B(c) {}

  /// Sends `n` packets of the lossless class from west to east, at once.
  void burst(std::uint32_t n, Time now, std::uint32_t from = kWest) {
    for (std::uint32_t i = 0; i < n; ++i) send(data(0, i * kPayload), now, from);
  }
  void pause(std::uint32_t port, std::uint16_t quanta, Time now, std::uint8_t priority = 3) {
    receive(port, packet_of(pool.get(), pause_bytes(priority, quanta)), now);
  }

  /// Returns the pause frames that left by a port, with the time of their last bit.
  [[nodiscard]] std::vector<std::pair<Time, PauseFrame>> frames(std::uint32_t port) const {
    std::vector<std::pair<Time, PauseFrame>> found;
    for (const auto& a : out[port].arrivals)
      if (const auto frame = decode_pause_frame(a.bytes)) found.emplace_back(a.at, *frame);
    return found;
  }
  /// Returns when the data packets left by a port.
  [[nodiscard]] std::vector<Time> departures(std::uint32_t port, std::uint16_t to_port) const {
    std::vector<Time> found;
    for (const auto& a : out[port].arrivals)
      if (!decode_pause_frame(a.bytes) && a.flow.destination_port == to_port) found.push_back(a.at);
    return found;
  }
  [[nodiscard]] PauseCounters of(std::uint32_t port, Time now, std::size_t queue = 0) const {
    return report(now).queues[2 * port + queue].pause;
  }
};

PauseFrame asks(std::uint16_t quanta) {
  PauseFrame frame;
  frame.set(3, quanta);
  return frame;
}

TEST(Pfc, PausesAtXoffResumesAtXonAndDropsBeyondTheHeadroom) {
  PfcBench bench;
  bench.burst(3, {});  // one is being sent, two wait
  bench.run_to(Time{1us});
  EXPECT_TRUE(bench.frames(B::kWest).empty()) << "2,000 B";
  bench.burst(1, Time{1us});
  bench.run_to(Time{2us});
  ASSERT_EQ(bench.frames(B::kWest).size(), 1U) << "3,000 B";
  EXPECT_EQ(bench.frames(B::kWest)[0], (std::pair{Time{1us} + kPauseFrameTime, asks(kQuanta)}));
  bench.burst(3, Time{2us});
  EXPECT_EQ(bench.drops(TrafficClass::kDdl, DropReason::kHeadroom), 1U) << "the one above 5,000 B";
  EXPECT_EQ(bench.of(B::kWest, Time{2us}).held_bytes, 5000U);
  // One leaves every 8 us: at 32 us the fourth does, and 1,000 B are left.
  bench.run_to(Time{32us} - 1ns);
  EXPECT_EQ(bench.frames(B::kWest).size(), 1U);
  bench.run_to(Time{100us});
  ASSERT_EQ(bench.frames(B::kWest).size(), 2U);
  EXPECT_EQ(bench.frames(B::kWest)[1], (std::pair{Time{32us} + kPauseFrameTime, asks(0)}));
  const PauseCounters c = bench.of(B::kWest, Time{100us});
  EXPECT_EQ(c.pauses_sent, 1U);
  EXPECT_EQ(c.resumes_sent, 1U);
  EXPECT_EQ(c.held_bytes, 0U);
  EXPECT_EQ(c.most_held_bytes, 5000U);
  EXPECT_EQ(bench.of(B::kEast, Time{100us}).pauses_sent, 0U) << "it is the port of entry";
  EXPECT_TRUE(bench.report(Time{100us}).ledger_balanced);
  EXPECT_EQ(bench.report(Time{100us}).pause_frames, 2U);
}

TEST(Pfc, EachPortOfEntryHasAnAccountOfItsOwn) {
  PfcBench bench;
  for (int i = 0; i < 3; ++i) {
    bench.burst(1, {}, B::kWest);
    bench.burst(1, {}, B::kSouth);
  }
  bench.run_to(Time{1us});
  EXPECT_EQ(bench.of(B::kWest, Time{1us}).held_bytes, 2000U);
  EXPECT_EQ(bench.of(B::kSouth, Time{1us}).held_bytes, 3000U);
  EXPECT_TRUE(bench.frames(B::kWest).empty());
  EXPECT_EQ(bench.frames(B::kSouth).size(), 1U);
}

TEST(Pfc, ALongPauseIsRenewedWhenHalfOfItIsOver) {
  PfcBench bench;
  bench.pause(B::kEast, 65535, {});  // 33.6 ms: what waits here cannot leave
  bench.burst(4, {});
  bench.run_to(Time{1ms});
  const auto frames = bench.frames(B::kWest);
  ASSERT_EQ(frames.size(), 4U);
  for (std::size_t i = 0; i < frames.size(); ++i)
    EXPECT_EQ(frames[i], (std::pair{Time{i * 256us} + kPauseFrameTime, asks(kQuanta)}))
        << "512 us / 2";
}

// Its own pause frames, which go first, leave a port the room to end what they are for.
TEST(Pfc, PacketsThatLeaveByThePortTheyCameFromPassItsShortestPauses) {
  SwitchConfig c = lossless_switch();
  for (auto& port : c.ports) port.queues[0].queue.lossless.pause_quanta = kLeastPauseQuanta;
  PfcBench bench(c);
  bench.burst(5, {}, B::kEast);
  bench.run_to(Time{100us});  // five take 40 us, and a frame of 480 ns comes each 6.9 us
  EXPECT_EQ(bench.of(B::kEast, Time{100us}).held_bytes, 0U);
  EXPECT_EQ(bench.of(B::kEast, Time{100us}).resumes_sent, 1U);
  EXPECT_TRUE(bench.report(Time{100us}).ledger_balanced);
}

TEST(Pfc, APausedQueueWaitsAndTheOtherGoesOn) {
  PfcBench bench;
  bench.burst(2, {});
  bench.pause(B::kEast, 100, Time{1us});  // 51.2 us
  bench.fill(2, Time{2us});
  bench.run_to(Time{500us});
  EXPECT_EQ(bench.departures(B::kEast, 5000), (std::vector<Time>{Time{8us}, Time{60'200ns}}))
      << "what is being sent is not interrupted; the pause ends at 52.2 us";
  EXPECT_EQ(bench.departures(B::kEast, 80), (std::vector<Time>{Time{16us}, Time{24us}}));
  const PauseCounters c = bench.of(B::kEast, Time{500us});
  EXPECT_EQ(c.pauses_received, 1U);
  EXPECT_EQ(c.paused_ns, 51'200U);
  EXPECT_EQ(bench.of(B::kEast, Time{500us}, 1).paused_ns, 0U);
}

TEST(Pfc, ZeroQuantaLetItGoOn) {
  PfcBench bench;
  bench.pause(B::kEast, 65535, {});
  bench.burst(2, Time{1us});
  bench.run_to(Time{20us});
  EXPECT_TRUE(bench.departures(B::kEast, 5000).empty());
  EXPECT_EQ(bench.of(B::kEast, Time{20us}).paused_ns, 20'000U) << "the pause in force counts";
  bench.pause(B::kEast, 0, Time{20us});
  bench.run_to(Time{500us});
  EXPECT_EQ(bench.departures(B::kEast, 5000), (std::vector<Time>{Time{28us}, Time{36us}}));
  EXPECT_EQ(bench.of(B::kEast, Time{500us}).resumes_received, 1U);
}

TEST(Pfc, AnotherPriorityIsNotStopped) {
  PfcBench bench;
  bench.pause(B::kEast, 65535, {}, 4);
  bench.burst(1, Time{1us});
  bench.run_to(Time{20us});
  EXPECT_EQ(bench.departures(B::kEast, 5000).size(), 1U);
  EXPECT_EQ(bench.report({}).pauses_taken, 1U);
  EXPECT_EQ(bench.of(B::kEast, Time{20us}).pauses_received, 0U);
}

TEST(Pfc, APauseFrameOvertakesWhatWaits) {
  PfcBench bench;
  for (int i = 0; i < 5; ++i)  // towards west
    bench.send({.flow = {ip("10.0.3.9"), ip("10.0.1.1"), 80, 33'000}, .payload_bytes = B::kPayload},
               {}, B::kEast);
  bench.send(B::start(0, 0, 10), {});
  bench.burst(4, {});
  bench.run_to(Time{100us});
  ASSERT_EQ(bench.frames(B::kWest).size(), 2U);
  EXPECT_EQ(bench.frames(B::kWest)[0].first, Time{8us} + kPauseFrameTime)
      << "right after the packet that was being sent";
}

TEST(Pfc, TheWatchdogDropsWhatIsStoppedForTooLong) {
  SwitchConfig c = lossless_switch();
  for (auto& port : c.ports) port.queues[0].queue.lossless.watchdog = 100us;
  PfcBench bench(c);
  bench.pause(B::kEast, kQuanta, {});  // 512 us
  bench.burst(4, Time{50us});
  bench.run_to(Time{150us} - 1ns);
  EXPECT_EQ(bench.of(B::kEast, Time{150us}).watchdog_releases, 0U);
  bench.run_to(Time{150us});
  EXPECT_EQ(bench.of(B::kEast, Time{150us}).watchdog_releases, 1U) << "100 us after the packets";
  EXPECT_EQ(bench.drops(TrafficClass::kDdl, DropReason::kPauseWatchdog), 4U);
  EXPECT_EQ(bench.of(B::kWest, Time{150us}).held_bytes, 0U);
  bench.burst(2, Time{200us});
  EXPECT_EQ(bench.drops(TrafficClass::kDdl, DropReason::kPauseWatchdog), 6U)
      << "also what comes during that pause";
  bench.run_to(Time{511us});
  ASSERT_EQ(bench.frames(B::kWest).size(), 2U);
  EXPECT_EQ(bench.frames(B::kWest)[1], (std::pair{Time{150us} + kPauseFrameTime, asks(0)}));
  bench.burst(1, Time{513us});
  bench.run_to(Time{600us});
  EXPECT_EQ(bench.departures(B::kEast, 5000), (std::vector<Time>{Time{521us}}))
      << "the pause is over";
  EXPECT_TRUE(bench.report(Time{600us}).ledger_balanced);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

// The port tells the gate since when a packet waits and whether one has left.
TEST(Pfc, APauseAfterAGapInWhichNothingLeavesIsTheSameToTheWatchdog) {
  SwitchConfig c = lossless_switch();
  for (auto& port : c.ports) port.queues[0].queue.lossless.watchdog = 100us;
  for (const bool leaves : {false, true}) {
    PfcBench bench(c);
    bench.pause(B::kEast, kQuanta, {});
    bench.burst(4, Time{10us});
    bench.fill(1, Time{58us});  // takes the link until 66 us
    bench.pause(B::kEast, 0, Time{60us});
    bench.pause(B::kEast, kQuanta, leaves ? Time{80us} : Time{64us});
    // 50 us of the watchdog were over at 60 us.
    const Time late = leaves ? Time{180us} : Time{114us};
    bench.run_to(late - 1ns);
    EXPECT_EQ(bench.of(B::kEast, late).watchdog_releases, 0U) << leaves;
    bench.run_to(late);
    EXPECT_EQ(bench.of(B::kEast, late).watchdog_releases, 1U) << leaves;
    EXPECT_EQ(bench.departures(B::kEast, 5000).empty(), !leaves);
  }
}

TEST(Pfc, AStormOfPausesIsCountedAndTakesNoMemory) {
  SwitchConfig c = lossless_switch();
  for (auto& port : c.ports) port.queues[0].queue.lossless.watchdog = 1ms;
  PfcBench bench(c);
  bench.burst(4, {});
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    bench.pause(B::kEast, static_cast<std::uint16_t>(65535 - i % 3), Time{i * 480ns});
    if (i % 1000 == 0) {
      ASSERT_LE(bench.pool.in_use(), 6U);
    }
  }
  const Time end{20'000 * 480ns};
  const SwitchReport r = bench.report(end);
  EXPECT_EQ(r.pauses_taken, 20'000U);
  EXPECT_EQ(bench.of(B::kEast, end).pauses_received, 20'000U);
  EXPECT_EQ(bench.of(B::kEast, end).watchdog_releases, 1U);
  EXPECT_TRUE(r.ledger_balanced);
}

TEST(Pfc, NoPauseFrameIsForwarded) {
  for (const bool learning : {false, true})
    for (const bool on : {false, true}) {
      SwitchConfig c = on ? lossless_switch() : B::config();
      c.l2.learning = learning;
      PfcBench bench(c);
      bench.pause(B::kEast, 10, {});
      auto plain = pause_bytes(3, 10);
      plain[14] = 0;  // a pause of 802.3x
      bench.receive(B::kEast, packet_of(bench.pool.get(), plain), Time{1us});
      bench.run_to(Time{100us});
      for (const auto& collector : bench.out) EXPECT_EQ(collector.size(), 0U);
      const SwitchReport r = bench.report({});
      EXPECT_EQ(r.pauses_taken, on ? 1U : 0U);
      EXPECT_EQ(bench.drops(TrafficClass::kBackground,
                            learning ? DropReason::kLinkLocalMac : DropReason::kNotIpv4),
                on ? 1U : 2U);
      EXPECT_TRUE(r.ledger_balanced);
      EXPECT_EQ(bench.pool.in_use(), 0U);
    }
}

// A port whose link is lossy sends no pauses, and its packets share the buffer as ever.
TEST(Pfc, ALossyPortOfEntryIsNotPaused) {
  SwitchConfig c = lossless_switch();
  c.ports[B::kSouth].queues[0].queue.lossless = {};
  c.buffer.total_bytes = 2 * 5000 + 9018;
  PfcBench bench(c);
  bench.burst(40, {}, B::kSouth);
  bench.run_to(Time{1us});
  EXPECT_TRUE(bench.frames(B::kSouth).empty());
  const auto shared = bench.sw.port(B::kEast).queues()[0].fifo().occupancy_packets();
  EXPECT_EQ(shared, 5U) << "half of 9,018 B, as alpha is 1: 10,000 B are set aside";
  bench.burst(6, Time{1us});
  EXPECT_EQ(bench.drops(TrafficClass::kDdl, DropReason::kHeadroom), 1U);
  EXPECT_EQ(bench.drops(TrafficClass::kDdl, DropReason::kOverShare), 34U);
  EXPECT_EQ(bench.sw.port(B::kEast).queues()[0].fifo().occupancy_packets(), 10U);
  bench.run_to(Time{1ms});
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

/// The ports' classes share 9,000 B; each pauses at what is free, and has a headroom of 2,000 B.
SwitchConfig dynamic_switch() {
  SwitchConfig c = lossless_switch();
  for (auto& port : c.ports) {
    LosslessConfig& how = port.queues[0].queue.lossless;
    how.xoff_bytes = 0;
    how.xon_bytes.reset();
    how.xoff_alpha = 1;
    how.xon_offset_bytes = 1000;
  }
  c.buffer.total_bytes = 9000 + 3 * 2000;
  return c;
}

TEST(Pfc, ADynamicThresholdIsHalfOfTheMemoryForOnePort) {
  PfcBench bench(dynamic_switch());
  bench.burst(6, {});  // one is being sent
  bench.run_to(Time{1us});
  EXPECT_TRUE(bench.frames(B::kWest).empty()) << "5,000 B, and 5,000 of 5,000 B were free";
  bench.burst(1, Time{1us});
  bench.run_to(Time{2us});
  ASSERT_EQ(bench.frames(B::kWest).size(), 1U);
  EXPECT_EQ(bench.frames(B::kWest)[0], (std::pair{Time{1us} + kPauseFrameTime, asks(kQuanta)}));
  bench.burst(2, Time{2us});
  EXPECT_EQ(bench.drops(TrafficClass::kDdl, DropReason::kHeadroom), 1U) << "beyond 2,000 B";
  // 7,000 B wait. At 8 us and 16 us the headroom is emptied; at 24 us 4,000 B are left, which
  // are 1,000 B less than the 5,000 B that are free.
  bench.run_to(Time{24us} - 1ns);
  EXPECT_EQ(bench.frames(B::kWest).size(), 1U);
  bench.run_to(Time{1ms});
  ASSERT_EQ(bench.frames(B::kWest).size(), 2U);
  EXPECT_EQ(bench.frames(B::kWest)[1], (std::pair{Time{24us} + kPauseFrameTime, asks(0)}));
  EXPECT_EQ(bench.of(B::kWest, Time{1ms}).most_held_bytes, 7000U);
  EXPECT_TRUE(bench.report(Time{1ms}).ledger_balanced);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(Pfc, PortsThatShareTheMemoryPauseEarlier) {
  PfcBench bench(dynamic_switch());
  bench.burst(1, {}, B::kSouth);  // is being sent
  for (int i = 0; i < 3; ++i) {
    bench.burst(1, {}, B::kWest);
    bench.burst(1, {}, B::kSouth);
  }
  bench.run_to(Time{1us});
  EXPECT_TRUE(bench.frames(B::kWest).empty() && bench.frames(B::kSouth).empty()) << "3,000 B each";
  bench.burst(1, Time{1us}, B::kSouth);
  bench.run_to(Time{2us});
  EXPECT_TRUE(bench.frames(B::kWest).empty());
  EXPECT_EQ(bench.frames(B::kSouth).size(), 1U) << "3,000 B are free, and not 4,000";
  bench.burst(1, Time{2us}, B::kWest);
  bench.run_to(Time{3us});
  EXPECT_EQ(bench.frames(B::kWest).size(), 1U);
}

TEST(Pfc, LossyPacketsTakePartInTheSharedMemory) {
  PfcBench bench(dynamic_switch());
  bench.fill(5, {});  // of the background, in queue 1: one is being sent, 4,000 B wait
  bench.burst(2, {});
  bench.run_to(Time{1us});
  EXPECT_TRUE(bench.frames(B::kWest).empty()) << "2,000 B, and 3,000 are free";
  bench.burst(1, Time{1us});
  bench.run_to(Time{2us});
  EXPECT_EQ(bench.of(B::kWest, Time{2us}).pauses_sent, 0U) << "3,000 B of 3,000";
  bench.burst(1, Time{2us});
  bench.run_to(Time{3us});
  EXPECT_EQ(bench.of(B::kWest, Time{3us}).pauses_sent, 1U);
}

TEST(Pfc, AReloadOfTheRateChangesHowLongPausesLast) {
  PfcBench bench;
  SwitchConfig halved = lossless_switch();
  for (auto& port : halved.ports) port.drain_rate.bits_per_second /= 2;
  SwitchChange change = bench.sw.prepare(lossless_switch(), halved);
  bench.sw.apply(change, {});
  bench.sw.retire(change);
  bench.pause(B::kEast, kQuanta, {});  // 1,024 us
  bench.burst(4, {});
  bench.run_to(Time{1ms});
  const auto frames = bench.frames(B::kWest);
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[1].first, Time{512us} + 2 * kPauseFrameTime) << "half of its own pause is over";
  bench.run_to(Time{2ms});
  EXPECT_EQ(bench.departures(B::kEast, 5000).at(0), Time{1024us + 16us});
}

TEST(Pfc, ADownLinkCarriesNoPauseFrames) {
  SwitchConfig c = lossless_switch();
  c.ports[B::kWest].loss = 1;
  PfcBench bench(c);
  bench.burst(5, {});
  bench.run_to(Time{100us});
  EXPECT_EQ(bench.out[B::kWest].size(), 0U);
  EXPECT_EQ(bench.drops(TrafficClass::kSignal, DropReason::kInjectedLoss), 2U);
  EXPECT_TRUE(bench.report(Time{100us}).ledger_balanced);
}

}  // namespace
}  // namespace outrider::pfc_test
