// Goal: with every kind of queue each packet has a named end, even if buffers run out and
// transmit rings are full. No buffer leaks, and no count is wrong.
// Method: a storm. Devices are rings that receive what they transmit, and the switch floods, so
// packets multiply until the pool is empty and the rings are full. More packets arrive by seed.
// After every poll the counters are compared with the test's own and with the pool.
#include <gtest/gtest.h>

#include <set>

#include "common/core/random.h"
#include "common/net/udp_signal.h"
#include "switch/config/config_toml.h"
#include "switch/runtime/direct_switch.h"
#include "tests/support/frames.h"
#include "tests/support/pool.h"

namespace outrider::overload_ledger_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kPorts = 3;
constexpr std::uint32_t kQueues = 6;
constexpr std::uint32_t kPoolPackets = 2'047;  // fewer than the rings take: 3 x 1024
constexpr int kPolls = 250;

QueueConfig small_queue() {
  return {.limit_packets = 60,
          .limit_bytes = 60'000,
          .floor_rate = BitRate{1'000'000'000},
          .reserved_bytes = 9'100};
}

MarkerConfig marker_of(MarkerKind kind, MarkAt at) {
  return {.kind = kind,
          .at = at,
          .not_ect = kind == MarkerKind::kStep ? NotEct::kDrop : NotEct::kPass,
          .threshold_packets = 20,
          .red = {.kmin_packets = 5, .kmax_packets = 30, .pmax = 0.5, .weight = 0.2},
          .pie = {.target = 1us, .mark_ecnth = 0.1},
          .pi2 = {.target = 1us},
          .codel = {.target = 500ns, .interval = 10us}};
}

/// Returns a switch whose ports have a queue with each marker; DSCP q goes to queue q.
SwitchProcessConfig storm(SchedulerKind scheduler, MarkAt at, RegulationMode mode,
                          bool shared_buffer) {
  SwitchProcessConfig c;
  c.mbufs = 200'000;  // as the settings require; the test gives far fewer
  SwitchConfig& sw = c.switches.emplace_back();
  sw.name = "sw";
  sw.l2.learning = true;
  sw.l2.max_entries = 64;
  sw.signals = {.accept_udp = true,
                .accept_from = {"10.0.0.0/8"},
                .tokens_per_second = 1e9,
                .token_burst = 1e6};
  for (std::uint32_t q = 0; q < kQueues; ++q)
    sw.classes.dscp.members.push_back({std::to_string(q), ConfigValue(std::int64_t{q})});
  if (shared_buffer) sw.buffer.total_bytes = 300'000;
  constexpr MarkerKind kKinds[kQueues] = {MarkerKind::kStep,  MarkerKind::kRed,
                                          MarkerKind::kPie,   MarkerKind::kPi2,
                                          MarkerKind::kCodel, MarkerKind::kTailDrop};
  for (std::uint32_t p = 0; p < kPorts; ++p) {
    const std::string name = "p" + std::to_string(p);
    c.devices.push_back({.name = name, .device = "net_ring" + std::to_string(p)});
    SwitchPortConfig port{.name = name, .drain_rate = BitRate{100'000'000'000}, .device = name};
    port.scheduler = scheduler;
    port.loss = 0.01;
    for (const auto kind : kKinds)
      port.queues.push_back({small_queue(),
                             marker_of(kind, at),
                             {.mode = mode,
                              .recovery = Recovery::kBurstEnd,
                              .idle_end = 20us,
                              .expiry = 50us,
                              .budget_share = 0.5,
                              .budget_window = 1ms,
                              .max_entries = 64}});
    sw.ports.push_back(port);
  }
  return c;
}

std::vector<std::uint8_t> random_frame(RandomStream& random) {
  FrameSpec spec;
  const std::uint32_t draw = random.next_u32();
  spec.flow = {0x0A000001 + draw % 8, 0x0A000101 + (draw >> 3) % 8,
               static_cast<std::uint16_t>(1'000 + (draw >> 6) % 16),
               static_cast<std::uint16_t>((draw >> 10) % 2 == 0 ? 80 : 5'000)};
  spec.tos = static_cast<std::uint8_t>((draw >> 11) % kQueues << 2 | (draw >> 14) % 4);
  spec.sequence = draw;
  spec.payload_bytes = static_cast<std::uint16_t>((draw >> 16) % 1'400);
  auto frame = bytes_of(spec);
  for (const std::size_t mac : {0U, 6U}) {  // stations 0 to 9, or broadcast
    frame[mac] = 2;
    for (std::size_t i = 1; i < 5; ++i) frame[mac + i] = 0;
    frame[mac + 5] = static_cast<std::uint8_t>(random.next_u32() % 10);
  }
  if (random.next_u32() % 8 == 0) std::fill_n(frame.begin(), 6, std::uint8_t{0xFF});
  return frame;
}

std::vector<std::uint8_t> random_start(RandomStream& random) {
  FrameSpec spec{.flow = {0x0A000001 + random.next_u32() % 8, 0x0A000101, 40'000, 5'900},
                 .protocol = 17,
                 .payload_bytes = 52};
  auto frame = bytes_of(spec);
  const std::size_t udp = 34;
  frame[udp + 4] = 0;
  frame[udp + 5] = 72;
  frame[udp + 6] = frame[udp + 7] = 0;
  udp_signal::Signal signal{
      .kind = udp_signal::Kind::kStart,
      .threshold_packets = static_cast<std::uint16_t>(1 + random.next_u32() % 20),
      .burst_bytes = 30'000,
      .source_port = 1'000,
      .destination_port = 5'000};
  signal.identity.job = static_cast<std::uint16_t>(random.next_u32() % 4);
  signal.identity.iteration = random.next_u32() % 1'000;
  udp_signal::encode(signal, std::span<std::uint8_t, udp_signal::kBytes>(frame.data() + udp + 8,
                                                                         udp_signal::kBytes));
  std::fill_n(frame.begin(), 6, std::uint8_t{0xFF});
  return frame;
}

class Storm {
 public:
  /// @param pool a pool of which no buffer is in use
  Storm(const SwitchProcessConfig& c, rte_mempool& pool)
      : pool_(pool),
        devices_(ports(c), pool),
        direct_(std::make_unique<DirectSwitch>(c, devices_)) {}

  /// Adds a frame if there are buffers and room in the ring. @return whether there were
  bool arrive(std::uint32_t port, const std::vector<std::uint8_t>& frame) {
    if (rte_mempool_avail_count(&pool_) < 2) return false;
    Packet* packet = packet_of(pool_, frame);
    if (devices_.port(port).tx(&packet, 1) == 0) {
      release(packet);
      return false;
    }
    ++injected_;
    return true;
  }
  void poll(Duration step) {
    direct_->worker(0).poll(now_, now_ + step);
    now_ += step;
  }
  /// Checks that the buffers in use are those in rings, queues and batches, and that frames given
  /// to the rings were received or are still in them.
  void check_books(const SwitchReport& r) {
    ASSERT_TRUE(r.ledger_balanced);
    std::uint64_t given = injected_, resident = 0;
    for (std::uint32_t p = 0; p < kPorts; ++p) {
      given += devices_.edge(p).transmitted();
      resident += devices_.edge(p).resident();
    }
    const std::uint64_t in_rings = given - r.received;
    ASSERT_EQ(rte_mempool_in_use_count(&pool_), in_rings + resident + r.resident + r.on_links);
  }
  [[nodiscard]] SwitchReport report() const { return direct_->report(now_); }
  [[nodiscard]] std::uint64_t tx_full() const {
    const auto dropped = devices_.tx_dropped();
    return dropped.values[0] + dropped.values[1];
  }
  /// Releases everything and checks that no buffer is left.
  void end() {
    direct_.reset();
    devices_.flush();
    std::array<Packet*, kBatchPackets> batch;
    for (std::uint32_t p = 0; p < kPorts; ++p)
      while (const auto n = devices_.receive_batch(p, 0, batch))
        for (std::uint16_t i = 0; i < n; ++i) release(batch[i]);
    EXPECT_EQ(rte_mempool_in_use_count(&pool_), 0U);
  }

 private:
  static std::vector<PortConfig> ports(const SwitchProcessConfig& c) {
    std::vector<PortConfig> configs;
    for (const auto& d : c.devices) configs.push_back({.name = d.name, .device = d.device});
    return configs;
  }
  rte_mempool& pool_;
  PollDevices devices_;
  std::unique_ptr<DirectSwitch> direct_;
  Time now_{};
  std::uint64_t injected_ = 0;
};

struct Seen {
  std::set<DropReason> drops{};
  std::uint64_t tx_full = 0;
  std::uint64_t armed = 0;
  std::uint64_t held = 0;
  std::uint64_t marks = 0;
};

void add(Seen& seen, const Storm& storm) {
  const SwitchReport r = storm.report();
  for (const auto& by_reason : r.drops.values)
    for (std::size_t i = 0; i < kDropReasons; ++i)
      if (by_reason[i] != 0) seen.drops.insert(static_cast<DropReason>(i));
  for (const auto& q : r.queues) {
    seen.armed += q.starts_armed;
    seen.held += q.pace.held;
    for (const auto& by_reason : q.marks.values) seen.marks += by_reason[0] + by_reason[1];
  }
  seen.tx_full += storm.tx_full();
}

void run(const SwitchProcessConfig& config, rte_mempool& pool, std::uint64_t seed, Seen& seen) {
  const auto issues = validate(config);
  ASSERT_TRUE(issues.empty()) << format_issues("storm", issues);
  Storm storm(config, pool);
  RandomStream random(seed, 0, RandomPurpose::kTest);
  for (int i = 0; i < kPolls; ++i) {
    for (std::uint32_t n = random.next_u32() % 40; n != 0; --n)
      static_cast<void>(storm.arrive(random.next_u32() % kPorts, random.next_u32() % 16 == 0
                                                                     ? random_start(random)
                                                                     : random_frame(random)));
    storm.poll(Duration{random.next_u32() % 8'000});
    storm.check_books(storm.report());
    if (testing::Test::HasFatalFailure()) return;
  }
  add(seen, storm);
  storm.end();
}

TEST(OverloadLedger, BalancesForEveryKindOfQueueWithoutBuffersAndWithFullRings) {
  constexpr RegulationMode kModes[] = {RegulationMode::kOff,    RegulationMode::kMark,
                                       RegulationMode::kPace,   RegulationMode::kMarkPace,
                                       RegulationMode::kWindow, RegulationMode::kMarkWindow};
  const Mempool pool = make_packet_pool({.name = "storm", .mbufs = kPoolPackets});
  Seen seen;
  std::uint64_t seed = 0;
  for (const auto scheduler :
       {SchedulerKind::kStrict, SchedulerKind::kDwrr, SchedulerKind::kStrictFloor})
    for (const auto mode : kModes)
      for (const bool shared : {false, true}) {
        // Every pair of settings occurs.
        const int odd = (static_cast<int>(mode) + static_cast<int>(scheduler) + shared) % 2;
        const MarkAt at = odd == 0 ? MarkAt::kEnqueue : MarkAt::kDequeue;
        SCOPED_TRACE("scheduler " + std::to_string(static_cast<int>(scheduler)) + " mode " +
                     std::to_string(static_cast<int>(mode)) + (shared ? " shared" : ""));
        run(storm(scheduler, at, mode, shared), *pool, ++seed, seen);
        if (HasFatalFailure()) return;
      }
  EXPECT_GT(seen.tx_full, 1'000U) << "full transmit rings";
  EXPECT_GT(seen.armed, 1'000U);
  EXPECT_GT(seen.held, 1'000U);
  EXPECT_GT(seen.marks, 1'000U);
  for (const DropReason reason :
       {DropReason::kFloodNoBuffer, DropReason::kTailPackets, DropReason::kTailBytes,
        DropReason::kOverShare, DropReason::kAqmNotEct, DropReason::kInjectedLoss,
        DropReason::kFiltered})
    EXPECT_TRUE(seen.drops.contains(reason)) << kDropReasonNames[static_cast<std::size_t>(reason)];
}

}  // namespace
}  // namespace outrider::overload_ledger_test
