// Goal: a reload between two packets puts every setting in force, keeps waiting packets in
// order, and the ledger stays balanced. Method: a reload is applied to a switch during traffic;
// the whole hand-over is tested with a thread in place of an lcore.
#include "switch/runtime/reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <numeric>
#include <thread>

#include "common/core/random.h"
#include "tests/unit/switch/switch_bench.h"

namespace outrider::switch_reload_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using B = SwitchBench;

struct Running {
  explicit Running(const SwitchConfig& c = B::config()) : config(c), bench(c) {}

  /// Reloads like SwitchReload, but without threads.
  void reload(const std::function<void(SwitchConfig&)>& edit, Time now) {
    SwitchConfig wanted = config;
    edit(wanted);
    SwitchChange change = bench.sw.prepare(config, wanted);
    bench.loop.run_until(now);
    bench.sw.apply(change, now);
    bench.sw.retire(change);
    config = wanted;
  }
  QueueCounts queue(Time now, std::uint32_t index = B::kEast) {
    PortCells cells(1);
    publish_counts(bench.sw.port(index), cells, now);
    return cells.queues[0].read();
  }
  std::size_t ce_at_east() const {
    return bench.out[B::kEast].count([](const Arrival& a) { return a.ecn() == Ecn::kCe; });
  }

  SwitchConfig config;
  B bench;
};

TEST(Reload, ANewThresholdMarksFromTheNextPacketOn) {
  Running r;
  r.bench.fill(30, Time{1us}, "10.0.3.9", Ecn::kEct0);
  EXPECT_EQ(r.bench.marks(B::kEast, TrafficClass::kBackground, MarkReason::kMarker), 0U);
  r.reload([](auto& c) { c.ports[B::kEast].marker.threshold_packets = 20; }, Time{2us});
  EXPECT_EQ(r.queue(Time{2us}).resident[TrafficClass::kBackground], 29U) << "one is in service";
  r.bench.fill(5, Time{3us}, "10.0.3.9", Ecn::kEct0);
  EXPECT_EQ(r.bench.marks(B::kEast, TrafficClass::kBackground, MarkReason::kMarker), 5U);
  EXPECT_EQ(r.queue(Time{3us}).initial_threshold_packets, 20U);
  r.bench.run();
  EXPECT_EQ(r.bench.out[B::kEast].size(), 35U);
  EXPECT_EQ(r.ce_at_east(), 5U);
  EXPECT_TRUE(r.bench.report(Time{1s}).ledger_balanced);
}

TEST(Reload, ALowerLimitKeepsWhatWaitsAndAHigherOneTakesMore) {
  Running r;
  r.bench.fill(61, Time{1us});
  r.reload([](auto& c) { c.ports[B::kEast].queue.limit_packets = 10; }, Time{2us});
  EXPECT_EQ(r.queue(Time{2us}).resident[TrafficClass::kBackground], 60U);
  r.bench.fill(1, Time{245us});  // 30 have left, so the old limit had room
  EXPECT_EQ(r.queue(Time{245us}).resident[TrafficClass::kBackground], 30U);
  EXPECT_EQ(r.bench.drops(TrafficClass::kBackground, DropReason::kTailPackets), 1U);
  r.reload([](auto& c) { c.ports[B::kEast].queue.limit_packets = 200; }, Time{246us});
  r.bench.fill(200, Time{247us});
  EXPECT_EQ(r.queue(Time{247us}).resident[TrafficClass::kBackground], 200U);
  EXPECT_EQ(r.bench.drops(TrafficClass::kBackground, DropReason::kTailPackets), 1U + 30U);
  r.bench.run();
  EXPECT_EQ(r.bench.out[B::kEast].size(), 231U);
  EXPECT_TRUE(r.bench.report(Time{1s}).ledger_balanced);
}

TEST(Reload, ANewRateHoldsFromTheNextPacketOn) {
  Running r;
  r.bench.fill(11, Time{0us});
  r.reload([](auto& c) { c.ports[B::kEast].drain_rate.bits_per_second /= 2; }, Time{12us});
  r.bench.run();
  const auto& out = r.bench.out[B::kEast].arrivals;
  ASSERT_EQ(out.size(), 11U);
  EXPECT_EQ(out[1].at, Time{16us}) << "in service when the rate changed";
  EXPECT_EQ(out[2].at, Time{32us});
  EXPECT_EQ(out[10].at, Time{16us + 9 * 16us});
  EXPECT_EQ(r.queue(Time{1s}).drain_bits_per_second, 500'000'000U);
}

TEST(Reload, ANewRouteLeadsElsewhereAndAClassMoves) {
  Running r;
  r.bench.send(B::background("10.0.3.9"), Time{1us});
  r.reload(
      [](auto& c) {
        c.routes[0].port = "south";
        c.ddl_ports = {80, 80};
      },
      Time{2us});
  r.bench.send(B::background("10.0.3.9"), Time{3us});
  r.bench.run();
  EXPECT_EQ(r.bench.out[B::kEast].size(), 1U);
  EXPECT_EQ(r.bench.out[B::kSouth].size(), 1U);
  EXPECT_EQ(r.queue(Time{1s}, B::kSouth).transmitted[TrafficClass::kDdl], 1U);
}

TEST(Reload, StationsThatWereLearnedStay) {
  auto config = B::config();
  config.l2.learning = true;
  Running r(config);
  const auto frame = bytes_of(B::background("10.0.3.9"));
  auto answer = frame;
  std::swap_ranges(answer.begin(), answer.begin() + 6, answer.begin() + 6);
  r.bench.receive(B::kEast, packet_of(r.bench.pool.get(), answer), Time{1us});
  r.reload([](auto& c) { c.ddl_ports = {1, 2}; }, Time{2us});
  const std::uint64_t copied = r.bench.report(Time{2us}).copied;
  r.bench.receive(B::kWest, packet_of(r.bench.pool.get(), frame), Time{3us});
  EXPECT_EQ(r.bench.report(Time{3us}).copied, copied) << "was flooded: forgotten";
}

TEST(Reload, SignalsAreBelievedFromElsewhere) {
  Running r;
  r.reload([](auto& c) { c.signals.accept_from = {"10.0.9.0/24"}; }, Time{1us});
  r.bench.send(B::start(1, 1000, 10), Time{2us});
  EXPECT_EQ(r.queue(Time{2us}).starts_armed, 0U);
  EXPECT_EQ(r.bench.report(Time{2us}).signals_not_accepted, 1U);
  r.reload([](auto& c) { c.signals.accept_from = {"10.0.1.0/24"}; }, Time{3us});
  r.bench.send(B::start(1, 1000, 10), Time{4us});
  EXPECT_EQ(r.queue(Time{4us}).starts_armed, 1U);
}

TEST(Reload, APolicyAppliesToWhatIsArmed) {
  Running r;
  r.bench.send(B::start(1, 1000, 10), Time{1us});
  EXPECT_EQ(r.queue(Time{2us}).background_threshold_packets, 10U);
  r.reload([](auto& c) { c.ports[B::kEast].regulation.expiry = 5ms; }, Time{2us});
  EXPECT_EQ(r.queue(Time{3us}).entries_left, 1U) << "survives the reload";
  EXPECT_EQ(r.queue(Time{4ms}).expired, 0U);
  EXPECT_EQ(r.queue(Time{6ms}).expired, 1U) << "100 ms were the policy before";
  EXPECT_EQ(r.queue(Time{6ms}).starts_armed, 1U);
}

TEST(Reload, RegulationIsSwitchedOffAndOn) {
  Running r;
  const auto set = [&](RegulationMode mode, Time now) {
    r.reload([mode](auto& c) { c.ports[B::kEast].regulation.mode = mode; }, now);
  };
  r.bench.send(B::start(1, 1000, 5), Time{1us});
  set(RegulationMode::kOff, Time{2us});
  EXPECT_EQ(r.queue(Time{2us}).withdrawn, 1U);
  EXPECT_EQ(r.queue(Time{2us}).background_threshold_packets, 40U);
  r.bench.send(B::start(2, 1000, 5), Time{3us});
  EXPECT_EQ(r.queue(Time{3us}).starts_armed, 1U) << "an off queue does not listen";
  set(RegulationMode::kMark, Time{4us});
  r.bench.send(B::start(3, 1000, 5), Time{5us});
  EXPECT_EQ(r.queue(Time{5us}).starts_armed, 2U);
  r.bench.fill(20, Time{6us}, "10.0.3.9", Ecn::kEct0);
  EXPECT_GT(r.bench.marks(B::kEast, TrafficClass::kBackground, MarkReason::kRegulatedThreshold),
            0U);
}

TEST(Reload, PacingEndsWithoutLosingWhatItHeldAndCountsOn) {
  auto config = B::config();
  config.ports[B::kEast].regulation.mode = RegulationMode::kPace;
  Running r(config);
  r.bench.send(B::start(1, 1000, 5), Time{1us});
  r.bench.fill(50, Time{2us});
  const std::uint64_t held = r.queue(Time{2us}).held_packets;
  ASSERT_GT(held, 20U);
  r.reload([](auto& c) { c.ports[B::kEast].queue.limit_packets = 30; }, Time{3us});
  EXPECT_EQ(r.queue(Time{3us}).held_packets, held) << "still paces";
  r.reload([](auto& c) { c.ports[B::kEast].regulation.mode = RegulationMode::kMark; }, Time{4us});
  QueueCounts q = r.queue(Time{4us});
  EXPECT_EQ(q.held_packets, 0U);
  EXPECT_EQ(q.pace.held, q.pace.released_room + q.pace.released_end + q.pace.released_floor);
  EXPECT_EQ(q.entries_left, 1U);
  r.bench.run();
  EXPECT_EQ(r.bench.out[B::kEast].size(), 51U);
  r.reload([](auto& c) { c.ports[B::kEast].regulation.mode = RegulationMode::kPace; }, Time{10ms});
  EXPECT_EQ(r.queue(Time{10ms}).pace.held, q.pace.held) << "goes on counting";
  EXPECT_TRUE(r.bench.report(Time{1s}).ledger_balanced);
}

TEST(Reload, KeepsWhatAnUnchangedMarkerKnowsAndTakesANewKind) {
  auto config = B::config();
  config.ports[B::kEast].marker.kind = MarkerKind::kTailDrop;
  Running r(config);
  r.bench.fill(50, Time{1us}, "10.0.3.9", Ecn::kEct0);
  r.reload(
      [](auto& c) {
        c.ports[B::kEast].marker.kind = MarkerKind::kRed;
        c.ports[B::kEast].marker.red = {.kmin_packets = 1, .kmax_packets = 2, .pmax = 1};
      },
      Time{2us});
  r.bench.fill(3, Time{3us}, "10.0.3.9", Ecn::kEct0);
  EXPECT_EQ(r.bench.marks(B::kEast, TrafficClass::kBackground, MarkReason::kMarker), 3U);
}

// With random reloads in random traffic each packet has one end, and packets of a flow keep
// their order.
TEST(Reload, NothingIsLostOrReorderedUnderRandomReloads) {
  std::uint64_t lossless = 0, regulated = 0, held = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto config = B::config();
    Running r(config);
    RandomStream random(seed, 0, RandomPurpose::kTest);
    std::uint64_t sent = 0;
    Time now{1us};
    std::uint16_t sequence = 0;
    for (int step = 0; step < 400; ++step) {
      now += Duration{random.next_u32() % 60'000};
      if (random.next_u32() % 8 == 0) {
        r.bench.send(B::start(random.next_u32() % 8, 1000U * (1 + random.next_u32() % 4), 8), now);
        ++sent;
      }
      const std::uint32_t n = random.next_u32() % 12;
      for (std::uint32_t i = 0; i < n; ++i, ++sent) {
        FrameSpec frame = B::background("10.0.3.9", Ecn::kEct0);
        frame.sequence = ++sequence;
        r.bench.send(frame, now);
      }
      if (random.next_u32() % 10 != 0) continue;
      constexpr RegulationMode kModes[] = {RegulationMode::kOff, RegulationMode::kMark,
                                           RegulationMode::kPace, RegulationMode::kMarkPace};
      r.reload(
          [&](SwitchConfig& c) {
            auto& east = c.ports[B::kEast];
            east.queue.limit_packets = 20 + random.next_u32() % 200;
            east.marker.threshold_packets = 1 + random.next_u32() % 19;
            east.regulation.mode = kModes[random.next_u32() % 4];
            east.drain_rate.bits_per_second = 500'000'000 + random.next_u32() % 1'000'000'000;
          },
          now);
      held += r.queue(now).held_packets;
      const SwitchReport report = r.bench.report(now);
      ASSERT_TRUE(report.ledger_balanced) << "seed " << seed << " step " << step;
      ASSERT_EQ(report.received, sent);
    }
    r.bench.run();
    const QueueCounts q = r.queue(now + 1s);
    std::uint64_t dropped = 0;
    for (const auto& by_reason : q.drops.values)
      dropped = std::accumulate(by_reason.begin(), by_reason.end(), dropped);
    EXPECT_EQ(sum(q.transmitted) + dropped, sent);
    EXPECT_EQ(r.bench.out[B::kEast].size(), sum(q.transmitted));
    EXPECT_EQ(q.starts_armed, q.recovered_arrival + q.expired + q.budget_exhausted + q.replaced +
                                  q.withdrawn + q.entries_left);
    EXPECT_EQ(q.pace.held, q.pace.released_room + q.pace.released_floor + q.pace.released_end +
                               q.pace.pushed_out);
    std::uint32_t last = 0;
    for (const auto& arrival : r.bench.out[B::kEast].arrivals) {
      const std::uint32_t seen = arrival.sequence;
      if (arrival.frame_bytes < 500) continue;  // a START
      EXPECT_GT(seen, last) << "seed " << seed;
      last = seen;
    }
    lossless += dropped == 0;
    regulated += q.starts_armed;
  }
  EXPECT_LT(lossless, 20U) << "limits mattered";
  EXPECT_GT(regulated, 100U);
  EXPECT_GT(held, 50U);
}

// -- the hand-over

SwitchProcessConfig process_of(const SwitchConfig& sw) {
  SwitchProcessConfig c;
  for (const auto& port : sw.ports) c.devices.push_back({port.name, "net_null0"});
  c.switches = {sw};
  return c;
}

/// A thread that only polls, like a poll loop.
class Loop {
 public:
  Loop(SwitchReload& reload, Switch& sw)
      : thread_([this, &reload, &sw] {
          for (std::uint64_t round = 0; running_; ++round)
            reload.poll(0, [&](ReloadChange& change) {
              sw.apply(change.switches.front(), Time{Duration{static_cast<std::int64_t>(round)}});
              ++applied_;
            });
        }) {}
  ~Loop() { end(); }
  void end() {
    running_ = false;
    if (thread_.joinable()) thread_.join();
  }
  int applied() const { return applied_; }

 private:
  std::atomic<bool> running_{true};
  std::atomic<int> applied_{0};
  std::thread thread_;
};

TEST(SwitchReload, HandsOverWhatDiffersAndRemembersWhatRuns) {
  B bench;
  SwitchProcessConfig wanted = process_of(B::config());
  SwitchReload reload(wanted, 100'000, 1, [&] {
    return ConfigResult<SwitchProcessConfig>{wanted, {}};
  });
  EXPECT_THAT(format_reload("f", reload.reload()), HasSubstr("not forwarded yet"));
  reload.attach({&bench.sw});
  Loop loop(reload, bench.sw);

  EXPECT_EQ(format_reload("f", reload.reload()), "f: reloaded, no setting differs\n");
  EXPECT_EQ(loop.applied(), 0);
  wanted.switches[0].ports[B::kEast].marker.threshold_packets = 20;
  EXPECT_EQ(format_reload("f", reload.reload()),
            "f: reloaded, 1 setting changed\n"
            "  switch[0].port[0].marker.threshold_packets: 40 -> 20\n");
  EXPECT_EQ(loop.applied(), 1);
  EXPECT_TRUE(reload.reload().changes.empty()) << "runs already";

  wanted.seed = 9;
  wanted.switches[0].ports[B::kEast].marker.threshold_packets = 30;
  const ReloadResult refused = reload.reload();
  ASSERT_EQ(refused.issues.size(), 1U);
  EXPECT_EQ(refused.issues[0].key, "seed");
  EXPECT_THAT(format_reload("f", refused), HasSubstr("nothing was changed"));
  EXPECT_EQ(loop.applied(), 1);
  wanted.seed = 1;
  EXPECT_EQ(reload.reload().changes.size(), 1U) << "20 ran on";

  loop.end();
  reload.detach();
  EXPECT_FALSE(reload.reload().issues.empty());
  EXPECT_EQ(bench.report({}).queues[B::kEast].initial_threshold_packets, 30U);
}

TEST(SwitchReload, AFaultyFileChangesNothingAndSaysAllThatIsWrong) {
  B bench;
  SwitchReload reload(process_of(B::config()), 100'000, 1, [] {
    return ConfigResult<SwitchProcessConfig>{{}, {{"a.key", "is bad"}, {"b", "is worse"}}};
  });
  reload.attach({&bench.sw});
  const std::string said = format_reload("f.toml", reload.reload());
  EXPECT_THAT(said, HasSubstr("2 invalid settings"));
  EXPECT_THAT(said, HasSubstr("b: is worse"));
  EXPECT_THAT(said, HasSubstr("nothing was changed"));
  reload.detach();
}

TEST(SwitchReload, EndsWhenTheLoopsDo) {
  B bench;
  SwitchProcessConfig wanted = process_of(B::config());
  wanted.switches[0].ddl_ports = {7, 7};
  std::atomic<bool> asked{false};
  SwitchReload reload(process_of(B::config()), 100'000, 1, [&] {
    asked = true;
    return ConfigResult<SwitchProcessConfig>{wanted, {}};
  });
  reload.attach({&bench.sw});
  std::thread asks([&] { EXPECT_FALSE(reload.reload().issues.empty()); });  // no loop polls
  while (!asked) std::this_thread::yield();
  reload.detach();
  asks.join();
}

}  // namespace
}  // namespace outrider::switch_reload_test
