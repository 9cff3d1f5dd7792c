// Goal: with priority flow control an incast of RoCEv2 loses nothing and fills the link, beside a
// class that is not paused; a flow that is stopped behind others pays for them; a ring of switches
// deadlocks, and a watchdog frees it.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/virtual/roce_scene.h"
#include "tools/lab/experiment/headroom.h"

namespace outrider::pfc_effect_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Time kLimit = Time{} + std::chrono::seconds(2);
constexpr std::uint8_t kPriority = 3;

/// Queue pairs without congestion control: only pauses slow them down.
RoceConfig fixed_rate() {
  return {.controller = RoceController::kFixed, .timeout = milliseconds(20)};
}

/// 10 Gbit/s and 5 us one way bring 12.5 KB after a pause was sent, and two frames.
LosslessConfig lossless() {
  return {.xoff_bytes = 50'000, .xon_bytes = 25'000, .headroom_bytes = 30'000};
}

void make_lossless(SwitchProcessConfig& c, const LosslessConfig& how) {
  for (auto& sw : c.switches)
    for (auto& port : sw.ports) {
      port.queue.lossless = how;
      if (!port.queues.empty()) port.queues[0].queue.lossless = how;
    }
}

const QueueReport& queue_at(const RunResult& r, std::string_view sw, std::string_view port,
                            std::uint32_t number) {
  return *std::ranges::find_if(r.switches.queues, [&](const QueueReport& q) {
    return q.switch_name == sw && q.port_name == port && q.queue == number;
  });
}

std::uint64_t drops_of(const RunResult& r) {
  std::uint64_t drops = 0;
  for (const auto& of_class : r.switches.drops.values) drops += sum(of_class);
  return drops;
}

double longest_push(const RunResult& r) {
  double longest = 0;
  for (const auto& b : bursts_of(r, BurstDirection::kPush))
    longest = std::max(longest, static_cast<double>(b.delivered_ns - b.released_ns) / 1e9);
  return longest;
}

struct Incast {
  Dumbbell dumbbell;
  SwitchProcessConfig switches;
  GeneratorConfig traffic;

  explicit Incast(std::uint32_t background_flows = 0, std::uint32_t workers = 4,
                  BitRate bottleneck = {10'000'000'000})
      : dumbbell(roce_dumbbell(workers, 2'000'000)) {
    dumbbell.background_flows = background_flows;
    dumbbell.bottleneck = bottleneck;
    dumbbell.bottleneck_port.queue.limit_packets = 400;
    dumbbell.bottleneck_port.marker.kind = MarkerKind::kTailDrop;
    switches = roce_switches(dumbbell);
    traffic = roce_traffic(dumbbell, fixed_rate());
    traffic.transports[0].tcp.priority = kPriority;
    for (auto& flows : traffic.long_flows) flows.start_spread = {};
  }
};

TEST(PfcEffect, AnIncastLosesNothingAndFillsTheLink) {
  const Mempool pool = make_test_pool(40'000);
  const Incast lossy;
  const RunResult without = run(lossy.switches, lossy.traffic, *pool, kLimit);
  EXPECT_GT(drops_of(without), 100U);
  EXPECT_GT(without.traffic.roce.retransmitted, 100U);
  EXPECT_EQ(without.switches.pause_frames, 0U);

  Incast incast;
  make_lossless(incast.switches, lossless());
  const RunResult r = run(incast.switches, incast.traffic, *pool, kLimit);
  ASSERT_TRUE(r.traffic.jobs_finished);
  EXPECT_EQ(drops_of(r), 0U);
  EXPECT_EQ(r.traffic.roce.retransmitted, 0U);
  EXPECT_EQ(r.traffic.roce.timeouts, 0U);
  EXPECT_EQ(r.traffic.roce.queue_pairs, 4U);
  EXPECT_GT(r.switches.pause_frames, 10U);
  EXPECT_EQ(r.traffic.pauses_taken, r.switches.pause_frames) << "all went to hosts";
  // 8 MB and headers at 10 Gbit/s take 6.9 ms; each of four hosts may send a quarter of the time.
  EXPECT_GT(longest_push(r), 0.0068);
  EXPECT_LT(longest_push(r), 0.0072);
  EXPECT_NEAR(static_cast<double>(r.traffic.paused_ns) / 1e9, 4 * 0.75 * 0.0069, 0.006);
  std::int64_t told_ns = 0;
  for (const char* port : {"w0", "w1", "w2", "w3"}) {
    const PauseCounters& c = queue_at(r, "left", port, 0).pause;
    EXPECT_GT(c.pauses_sent, 1U) << port;
    EXPECT_GT(c.resumes_sent, 1U) << port;
    const auto& spans = queue_at(r, "left", port, 0).stops_neighbour;
    EXPECT_EQ(spans.size(), c.resumes_sent) << port;
    for (const TimeSpan& span : spans) told_ns += span.end_ns - span.begin_ns;
    EXPECT_GT(c.most_held_bytes, 50'000U);
    EXPECT_LT(c.most_held_bytes, 80'000U);
  }
  const auto paused_ns = static_cast<double>(r.traffic.paused_ns);
  EXPECT_NEAR(static_cast<double>(told_ns), paused_ns, paused_ns / 100) << "hosts obey at once";
}

TEST(PfcEffect, TooLittleHeadroomLosesPackets) {
  const Mempool pool = make_test_pool(40'000);
  Incast incast;
  LosslessConfig how = lossless();
  how.headroom_bytes = 2000;
  make_lossless(incast.switches, how);
  const RunResult r = run(incast.switches, incast.traffic, *pool, kLimit);
  EXPECT_GT(r.switches.drops[TrafficClass::kDdl][DropReason::kHeadroom], 10U);
  EXPECT_GT(r.traffic.roce.retransmitted, 0U);
}

// A port alone pauses when it holds half of the memory, two when each holds a third.
// What `check` asks for is enough, and not many times too much: a packet in four leaves meanwhile.
TEST(PfcEffect, TheHeadroomThatALinkNeedsIsEnoughAndAQuarterIsNot) {
  const Mempool pool = make_test_pool(40'000);
  const std::uint64_t needed = headroom_needed_bytes({10'000'000'000}, microseconds(5), 1514);
  for (const std::uint64_t headroom : {needed, needed / 4}) {
    Incast incast;
    LosslessConfig how = lossless();
    how.headroom_bytes = headroom;
    make_lossless(incast.switches, how);
    const RunResult r = run(incast.switches, incast.traffic, *pool, kLimit);
    EXPECT_EQ(r.switches.drops[TrafficClass::kDdl][DropReason::kHeadroom] == 0, headroom == needed)
        << headroom;
  }
}

TEST(PfcEffect, PortsThatCompeteForTheMemoryPauseEarlier) {
  const Mempool pool = make_test_pool(40'000);
  constexpr std::uint64_t kShared = 240'000, kHeadroom = 30'000;
  std::uint64_t alone = 0;
  for (const std::uint32_t workers : {1U, 2U}) {
    Incast incast(0, workers, BitRate{5'000'000'000});
    make_lossless(incast.switches, {.xoff_alpha = 1, .headroom_bytes = kHeadroom});
    for (auto& sw : incast.switches.switches)
      sw.buffer.total_bytes = lossless_own_bytes(sw) + kShared;
    const RunResult r = run(incast.switches, incast.traffic, *pool, kLimit);
    ASSERT_TRUE(r.traffic.jobs_finished);
    EXPECT_EQ(drops_of(r), 0U);
    EXPECT_EQ(r.traffic.roce.retransmitted, 0U);
    for (std::uint32_t w = 0; w < workers; ++w) {
      const PauseCounters& c = queue_at(r, "left", "w" + std::to_string(w), 0).pause;
      EXPECT_GT(c.pauses_sent, 1U);
      EXPECT_GT(c.resumes_sent, 1U);
      // What is free is as much as each port holds; the headroom takes what comes after the pause.
      EXPECT_GT(c.most_held_bytes, kShared / (1 + workers)) << workers;
      EXPECT_LE(c.most_held_bytes, kShared / (1 + workers) + kHeadroom) << workers;
      if (workers == 1) alone = c.most_held_bytes;
      else EXPECT_LT(c.most_held_bytes, alone - kShared / 16) << w;
    }
  }
}

TEST(PfcEffect, ALossyClassBesideItIsNotPaused) {
  const Mempool pool = make_test_pool(40'000);
  Incast incast(2);
  for (auto& sw : incast.switches.switches) {
    sw.classes.background_queue = 1;
    for (auto& port : sw.ports) {
      port.scheduler = SchedulerKind::kDwrr;
      port.queues.assign(2, {port.queue, port.marker, port.regulation});
    }
  }
  make_lossless(incast.switches, lossless());
  const RunResult r = run(incast.switches, incast.traffic, *pool, kLimit);
  ASSERT_TRUE(r.traffic.jobs_finished);
  EXPECT_EQ(r.traffic.roce.retransmitted, 0U);
  EXPECT_EQ(sum(queue_at(r, "left", "trunk", 0).drops[TrafficClass::kDdl]), 0U);
  EXPECT_GT(queue_at(r, "left", "w0", 0).pause.pauses_sent, 1U);
  for (const auto& q : r.switches.queues)
    if (q.queue == 1) {
      EXPECT_EQ(q.pause.pauses_sent + q.pause.pauses_received, 0U) << q.port_name;
    }
  EXPECT_EQ(queue_at(r, "left", "b0", 0).pause.pauses_sent, 0U);
  // It has half of the link while bursts have theirs, which take twice as long.
  EXPECT_GT(longest_push(r), 0.012);
  EXPECT_LT(longest_push(r), 0.0145);
  EXPECT_GT(queue_at(r, "left", "trunk", 1).transmitted_bytes[TrafficClass::kBackground],
            6'000'000U);
}

/// w0 pushes to s0, w1 to s1, over one trunk. The link to s0 has a tenth of the others' rate.
struct Victim {
  SwitchProcessConfig switches;
  GeneratorConfig traffic;

  Victim() {
    Dumbbell d = roce_dumbbell(2, 2'000'000);
    d.bottleneck_port.queue.limit_packets = 2000;
    d.bottleneck_port.marker.kind = MarkerKind::kTailDrop;
    Scene scene(d);
    switches = roce_switches(d);
    switches.switches[1] = scene.switches.switches[1];
    switches.switches[1].rules = switches.switches[0].rules;
    for (auto& port : switches.switches[1].ports)
      if (port.name == "s0") port.drain_rate = BitRate{1'000'000'000};
    traffic = scene.traffic;
    traffic.transports[0].tcp = {};
    traffic.transports[0].tcp.priority = kPriority;
    traffic.transports[0].protocol = TransportProtocol::kRoce;
    traffic.transports[0].roce = fixed_rate();
    JobConfig job = traffic.jobs[0];
    traffic.jobs.assign(2, job);
    for (std::size_t j = 0; j < 2; ++j) {
      traffic.jobs[j].name = "job" + std::to_string(j);
      traffic.jobs[j].workers = {"w" + std::to_string(j)};
      traffic.jobs[j].servers = {"s" + std::to_string(j)};
      traffic.jobs[j].tcp_port = static_cast<std::uint16_t>(5000 + j);
    }
  }
  [[nodiscard]] static double victim(const RunResult& r) {
    for (const auto& b : r.traffic.bursts)
      if (b.identity.job == 1) return static_cast<double>(b.delivered_ns - b.released_ns) / 1e9;
    return 0;
  }
};

TEST(PfcEffect, AFlowBehindAPausedOneIsAVictim) {
  const Mempool pool = make_test_pool(40'000);
  const Victim without;
  const RunResult lossy = run(without.switches, without.traffic, *pool, kLimit);
  // 4 MB share the trunk until one has left. What does not fit into 1 Gbit/s is lost behind it.
  EXPECT_LT(Victim::victim(lossy), 0.005);

  Victim with;
  make_lossless(with.switches, lossless());
  const RunResult r = run(with.switches, with.traffic, *pool, kLimit);
  ASSERT_TRUE(r.traffic.jobs_finished);
  EXPECT_EQ(drops_of(r), 0U);
  const PauseCounters& trunk = queue_at(r, "left", "trunk", 0).pause;
  EXPECT_GT(trunk.pauses_received, 10U);
  EXPECT_GT(trunk.paused_ns, 5'000'000U);
  // The victim's packets come between those for 1 Gbit/s, and leave no faster than these.
  EXPECT_GT(Victim::victim(r), 0.012) << "2 MB at 10 Gbit/s take 1.7 ms";
}

/// Three switches in a ring, each with a worker and a server. Worker i pushes to the server two
/// switches on, so every link of the ring has two flows, and each waits for the next link. Routes
/// lead round the ring in one direction: those of the shortest paths would not.
struct Ring {
  SwitchProcessConfig switches;
  GeneratorConfig traffic;

  explicit Ring(std::optional<Duration> watchdog) {
    LosslessConfig how = lossless();
    how.watchdog = watchdog;
    for (int s = 0; s < 3; ++s) add_switch(s);
    for (int s = 0; s < 3; ++s)
      switches.links.push_back(
          {name('s', s) + ".next", name('s', next(s)) + ".back", microseconds(2)});
    make_lossless(switches, how);
    traffic.transports = {{"rdma", {}}};
    traffic.transports[0].protocol = TransportProtocol::kRoce;
    traffic.transports[0].tcp.priority = kPriority;
    traffic.transports[0].roce = fixed_rate();
    traffic.transports[0].roce.retry_limit = 100;
    traffic.transports[0].roce.timeout = milliseconds(2);
    for (int s = 0; s < 3; ++s) add_traffic(s);
  }

 private:
  static int next(int s) { return (s + 1) % 3; }
  static std::string name(char kind, int s) { return kind + std::to_string(s); }
  static std::string address(char kind, int s) {
    return "10.0." + std::to_string(s) + (kind == 'w' ? ".1" : ".2");
  }

  void add_switch(int s) {
    SwitchConfig sw;
    sw.name = name('s', s);
    for (const std::string& port :
         {std::string("w"), std::string("p"), std::string("next"), std::string("back")}) {
      SwitchPortConfig p;
      p.name = port;
      p.drain_rate = BitRate{10'000'000'000};
      p.queue.limit_packets = 2000;
      p.marker.kind = MarkerKind::kTailDrop;
      if (port.size() == 1) p.device = sw.name, p.delay = microseconds(2);
      sw.ports.push_back(p);
    }
    sw.routes = {
        {address('w', s) + "/32", "w"}, {address('p', s) + "/32", "p"}, {"0.0.0.0/0", "next"}};
    switches.switches.push_back(sw);
    const std::string device = "net_null" + std::to_string(s);
    switches.devices.push_back({.name = sw.name, .device = device});
    traffic.devices.push_back({.name = sw.name, .device = device});
  }
  void add_traffic(int s) {
    for (const char kind : {'w', 'p'})
      traffic.hosts.push_back({.name = name(kind, s),
                               .address = address(kind, s),
                               .device = name('s', s),
                               .rate = BitRate{10'000'000'000}});
    JobConfig job = roce_dumbbell(1, 1'000'000).job;
    job.name = name('j', s);
    job.transport = "rdma";
    job.workers = {name('w', s)};
    job.servers = {name('p', next(next(s)))};
    job.tcp_port = static_cast<std::uint16_t>(5000 + s);
    traffic.jobs.push_back(job);
  }
};

std::uint64_t watchdog_releases(const RunResult& r) {
  std::uint64_t releases = 0;
  for (const auto& q : r.switches.queues) releases += q.pause.watchdog_releases;
  return releases;
}

TEST(PfcEffect, ARingOfSwitchesDeadlocks) {
  const Mempool pool = make_test_pool(60'000);
  const Ring ring(std::nullopt);
  const RunResult early = run(ring.switches, ring.traffic, *pool, Time{milliseconds(10)});
  const RunResult late = run(ring.switches, ring.traffic, *pool, Time{milliseconds(60)});
  EXPECT_FALSE(late.traffic.jobs_finished);
  EXPECT_GT(late.switches.resident, 100U);
  EXPECT_EQ(drops_of(late), 0U);
  for (const char* sw : {"s0", "s1", "s2"}) {
    const QueueReport& stopped = queue_of(late, sw, "next");
    EXPECT_EQ(sum(stopped.transmitted), sum(queue_of(early, sw, "next").transmitted))
        << sw << ": nothing but pause frames in 50 ms";
    EXPECT_GT(stopped.pause.paused_ns, 57'000'000U);
    EXPECT_GE(queue_of(late, sw, "back").pause.held_bytes, 50'000U);
  }
}

TEST(PfcEffect, AWatchdogFreesTheRing) {
  const Mempool pool = make_test_pool(60'000);
  const Ring ring(milliseconds(1));
  const RunResult r = run(ring.switches, ring.traffic, *pool, Time{milliseconds(500)});
  EXPECT_TRUE(r.traffic.jobs_finished);
  EXPECT_GE(watchdog_releases(r), 1U);
  EXPECT_GT(r.switches.drops[TrafficClass::kBackground][DropReason::kPauseWatchdog], 10U);
  for (const auto& b : bursts_of(r, BurstDirection::kPush))
    EXPECT_EQ(b.delivered_bytes, 1'000'000U);
}

}  // namespace
}  // namespace outrider::pfc_effect_test
