// Goal: once a switch is made nothing that a packet, an announcement, a snapshot or the owner's
// share of a reload does allocates, in each mode of regulation and with each part. Method: operator
// new is counted while a switch works on packets that were made before, and each part is seen to
// act.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "common/dpdk/packet/packet_slot.h"
#include "common/net/hop_trace.h"
#include "switch/egress/parts/port_capture.h"
#include "switch/regulation/policy/modes.h"
#include "switch/report/snapshots.h"
#include "tests/unit/switch/runtime/lcores_bench.h"
#include "tests/unit/switch/switch_bench.h"

namespace outrider::allocation_test {
namespace {
thread_local std::uint64_t allocations = 0;

[[maybe_unused]] void* counted(void* memory) {
  ++allocations;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace
}  // namespace outrider::allocation_test

#ifndef OUTRIDER_SANITIZED  // sanitizers have their own, and no test here counts with them
// All other forms call these. Inlined, g++ takes malloc() and delete for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return outrider::allocation_test::counted(std::malloc(bytes));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto a = static_cast<std::size_t>(alignment);
  return outrider::allocation_test::counted(std::aligned_alloc(a, (bytes + a - 1) / a * a));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*bytes*/,
                                       std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
#endif

namespace outrider::allocation_test {
using namespace sw;
namespace {

using B = SwitchBench;

#ifdef OUTRIDER_SANITIZED
constexpr bool kCounts = false;
#else
constexpr bool kCounts = true;
#endif

constexpr std::uint32_t kFlows = 4, kRounds = 40, kPerRound = 6, kBurst = 12;
constexpr std::uint32_t kFirst = 100'000;  // sequence number of a burst's first byte
constexpr std::uint16_t kProbes = 7000;    // destination port
const std::vector<std::uint8_t> kScaleOf128{3, 3, 7, 0};

/// The far end of a link.
struct Sink final : Node {
  void receive(std::uint32_t /*port*/, Packet* packet, Time /*now*/) noexcept override {
    attributed += owner_of(*packet) != 0 && slot_of(*packet).ledger.times().sum() > 0;
    release(packet);
  }
  std::uint64_t attributed = 0;  ///< packets whose time at the switch is split up
};

/// Returns the regulation of all ports, with what goes beside the mode.
RegulationPolicy policy_in(RegulationMode mode) {
  RegulationPolicy policy{.mode = mode,
                          .recovery = Recovery::kBurstEnd,
                          .idle_end = 1ms,
                          .expiry = 10ms,
                          .budget_share = 1,
                          .max_entries = 8};
  policy.window.max_flows = 8;
  policy.predict.threshold_packets = 10;
  policy.grant = {.order = GrantOrder::kFirst, .overlap = 0ns, .idle = 1ms};
  if (holds_windows(mode)) {
    policy.window.beyond = {
        {.name = "far", .destinations = {"10.0.3.128/25"}, .rate = {200'000'000}}};
    policy.lead = OrAuto<Duration>{};
  }
  if (acts_on_bursts(mode) && !holds_windows(mode) && !steers(mode)) {
    policy.lead = OrAuto<Duration>{500us};
    policy.predict.from = PredictFrom::kTraffic;
    policy.predict.idle_gap = 1ms;
  }
  return policy;
}

/// Returns a switch that has, in that mode, all parts that a queue can have there.
SwitchConfig switch_in(RegulationMode mode) {
  SwitchConfig c = B::config();
  c.signals.accept_from = {"10.0.1.0/24", "10.0.3.0/24"};  // servers answer
  c.signals.burst_sizes = {{.destinations = {"0.0.0.0/0"}, .bytes = kBurst * B::kPayload}};
  c.buffer.total_bytes = 1'000'000;
  c.hop_records.udp_port = kProbes;
  for (auto& port : c.ports) {
    port.record = true;
    port.loss = 0.001;
    port.lose_packets = {100};
    port.mark_packets = {110};
    port.regulation = policy_in(mode);
  }
  if (steers(mode)) {
    c.ddl_ports = {1, 1};
    c.classes.background_queue = c.classes.ddl_queue = 1;
    for (auto& port : c.ports) {
      port.queues.assign(2, {port.queue, port.marker, port.regulation});
      port.queues[0].regulation = {};
    }
  } else if (acts_on_bursts(mode)) {
    c.ports[B::kSouth].regulation.hears = Subscription::kSwitch;
  }
  return c;
}

/// A switch and what it is to work on, all of it made before it begins.
class Work {
 public:
  explicit Work(const SwitchConfig& config)
      : config_(config),
        process_{.devices = {}, .switches = {config}, .links = {}},
        sw_(config, loop_, {.tap = {.bursts = 64, .bins = 100, .bin = 1ms}}),
        snapshots_(process_) {
    for (std::uint32_t p = 0; p < sw_.ports(); ++p) {
      links_.emplace_back(loop_, 1us, sink_, p);
      sw_.port(p).transmitter().output().connect(links_.back());
      sw_.port(p).capture(capture_);
      sw_.port(p).attribute(4);
    }
  }
  ~Work() {
    sw_.flush();
    for (Link& link : links_) link.flush();
    EXPECT_EQ(rte_mempool_in_use_count(pool_.get()), 0U);
  }

  void add(Time at, std::function<void(Time)> act) { acts_.push_back({at, std::move(act)}); }
  void send(const FrameSpec& spec, Time at, std::uint32_t ingress = B::kWest) {
    hand_in(make_packet(*pool_, spec), at, ingress);
  }
  void send(const std::vector<std::uint8_t>& frame, Time at) {
    hand_in(packet_of(*pool_, frame), at, B::kWest);
  }
  void send_owned(const FrameSpec& spec, Time at) {
    Packet* packet = make_packet(*pool_, spec);
    PacketSlot& slot = give_slot(*packet);
    slot.owner = 1;
    slot.ledger = BurstLedger(*spec.identity, at);
    hand_in(packet, at, B::kWest);
  }
  void publish(Time at) {
    add(at, [this](Time now) { sw_.publish(snapshots_.cells(0), now); });
  }
  void reload(const SwitchConfig& wanted, Time at) {
    SwitchChange& change = changes_.emplace_back(sw_.prepare(config_, wanted));
    add(at, [this, &change](Time now) { sw_.apply(change, now); });
  }

  /// Does it all. @return how often it allocated
  std::uint64_t done() {
    std::ranges::stable_sort(acts_, {}, &Act::at);
    const std::uint64_t before = allocations;
    for (const Act& act : acts_) {
      loop_.run_until(act.at);
      act.what(act.at);
    }
    loop_.run_until(acts_.back().at + 1s);
    return allocations - before;
  }
  [[nodiscard]] SwitchReport report() const {
    SwitchReport r;
    r.ledger_balanced = true;
    sw_.fill(r, acts_.back().at + 1s);
    return r;
  }
  [[nodiscard]] std::uint64_t attributed() const { return sink_.attributed; }
  [[nodiscard]] std::uint64_t captured() {
    std::uint64_t packets = 0;
    capture_.drain([&](const CaptureNote&, const std::uint8_t*) { ++packets; });
    return packets;
  }

 private:
  struct Act {
    Time at;
    std::function<void(Time)> what;
  };
  void hand_in(Packet* packet, Time at, std::uint32_t ingress) {
    add(at, [this, packet, ingress](Time now) { sw_.receive(ingress, packet, now); });
  }

  Mempool pool_ = make_packet_pool(
      {.name = "allocation", .mbufs = 8191, .frame_room_bytes = kHeaderRoomBytes, .slots = true});
  SwitchConfig config_;
  SwitchProcessConfig process_;
  PortCapture capture_{64, 4096};
  Sink sink_;
  EventLoop loop_;
  Switch sw_;
  SwitchSnapshots snapshots_;
  std::deque<Link> links_;
  std::deque<SwitchChange> changes_;
  std::vector<Act> acts_;
};

FlowKey background_flow(std::uint32_t f) {
  return {ip("10.0.1.100") + f, f == 0 ? ip("10.0.3.200") : ip("10.0.3.9"),
          static_cast<std::uint16_t>(33'000 + f), 80};
}

/// Lets flows of background open and send, with what comes back for them.
void add_background(Work& work) {
  for (std::uint32_t f = 0; f < kFlows; ++f) {
    const FlowKey flow = background_flow(f);
    const auto ect = static_cast<std::uint8_t>(Ecn::kEct0);
    work.send({.flow = flow, .tos = ect, .tcp_flags = kTcpSyn, .tcp_options = kScaleOf128}, {});
    work.send({.flow = flow.reversed(),
               .acknowledgment = 1,
               .tcp_flags = kTcpSyn | kTcpAck,
               .tcp_options = kScaleOf128},
              Time{1ms}, B::kEast);
    work.send({.flow = flow, .tos = ect, .sequence = 1, .acknowledgment = 1}, Time{1500us});
    std::uint32_t sent = 1;
    for (std::uint32_t r = 2; r < kRounds; ++r) {
      for (std::uint32_t i = 0; i < kPerRound; ++i, sent += B::kPayload)
        work.send({.flow = flow, .tos = ect, .sequence = sent, .payload_bytes = B::kPayload},
                  Time{r * 1ms});
      work.send({.flow = flow.reversed(), .acknowledgment = sent, .window = 30'000},
                Time{r * 1ms + 500us}, B::kEast);
    }
  }
}

/// Lets workers announce bursts, be answered, and send them; the last goes further on.
void add_bursts(Work& work) {
  for (std::uint32_t r = 4; r < kRounds; r += 3) {
    const std::uint32_t worker = r % 4, first = kFirst * r;
    FlowKey flow = B::ddl_flow(worker);
    if (worker == 3) flow.destination_address = ip("10.0.3.201");
    FrameSpec start = B::start(worker, first, 10);
    start.flow = flow;
    const Time at{r * 1ms - 200us};
    work.send(start, at);
    work.send({.flow = flow.reversed(), .tos = ack_tos(10), .sequence = first, .tcp_flags = 0},
              at + 20us, B::kEast);
    for (std::uint32_t i = 0; i < kBurst; ++i)
      work.send_owned(
          {.flow = flow,
           .tos = static_cast<std::uint8_t>(Ecn::kEct0),
           .sequence = first + i * B::kPayload,
           .payload_bytes = B::kPayload,
           .identity = BurstIdentity{.worker = static_cast<std::uint16_t>(worker), .iteration = r}},
          at + 190us + i * 5us);
    work.send({.flow = flow.reversed(), .acknowledgment = first + kBurst * B::kPayload}, at + 500us,
              B::kEast);
  }
}

/// Sends probes with room for a hop record.
void add_probes(Work& work) {
  constexpr std::size_t kUdp = 14 + 20, kTrace = kUdp + 8 + hop_trace::kPayloadOffset;
  constexpr std::uint8_t kLength = 80;
  auto frame = bytes_of({.flow = {ip("10.0.1.50"), ip("10.0.3.9"), 9, kProbes},
                         .protocol = kIpProtocolUdp,
                         .payload_bytes = kLength - 20});  // a TCP header is longer
  frame[kUdp + 4] = 0;
  frame[kUdp + 5] = kLength;
  frame[kUdp + 6] = frame[kUdp + 7] = 0;  // no checksum
  frame[kTrace] = hop_trace::kMagic >> 8;
  frame[kTrace + 1] = hop_trace::kMagic & 0xFF;
  frame[kTrace + 2] = 1;
  for (std::uint32_t r = 2; r < kRounds; r += 5) work.send(frame, Time{r * 1ms});
}

/// Returns what a reload brings in every mode: another loss, another marker, and a longer queue.
SwitchConfig changed(SwitchConfig config) {
  SwitchPortConfig& port = config.ports[B::kEast];
  port.loss = 0.01;
  port.marker.threshold_packets = 20;
  port.queue.limit_packets = 80;
  for (auto& queue : port.queues) queue.queue.limit_packets = 80;
  return config;
}

/// Sees the parts of the regulated queue to the east act.
void expect_activity(Work& work, RegulationMode mode) {
  const SwitchReport r = work.report();
  EXPECT_TRUE(r.ledger_balanced);
  const QueueReport& target = r.queues[steers(mode) ? 2 * B::kEast : B::kEast];
  const QueueReport& q = steers(mode) ? r.queues[2 * B::kEast + 1] : target;
  EXPECT_GT(q.grant.acks_at_once + q.grant.granted, 0U);
  EXPECT_GT(target.bursts.size(), 0U);
  EXPECT_GT(q.hop_records, 0U);
  EXPECT_GT(work.captured(), 0U);
  EXPECT_GT(work.attributed(), 0U);
  EXPECT_EQ(q.starts_armed > 0, acts_on_bursts(mode));
  EXPECT_EQ(sum(q.window.answers) > 0, rewrites_windows(mode));
  EXPECT_EQ(!q.beyond_by_name.empty() && q.beyond.answers > 0, holds_windows(mode));
  EXPECT_EQ(q.pace.held > 0, paces(mode));
  EXPECT_EQ(q.steer.packets > 0, steers(mode));
}

TEST(Allocation, NoModeAndNoPartAllocatesOnceItIsMade) {
  if (!kCounts) GTEST_SKIP() << "sanitizers have an operator new of their own";
  for (const ModeRow& row : kModeRows) {
    SCOPED_TRACE(row.name);
    const SwitchConfig config = switch_in(row.mode);
    Work work(config);
    add_background(work);
    add_bursts(work);
    add_probes(work);
    for (std::uint32_t r = 1; r < kRounds; r += 2) work.publish(Time{r * 1ms + 100us});
    work.reload(changed(config), Time{20ms});
    EXPECT_EQ(work.done(), 0U);
    expect_activity(work, row.mode);
  }
}

TEST(Allocation, PausesAllocateNothing) {
  if (!kCounts) GTEST_SKIP() << "sanitizers have an operator new of their own";
  SwitchConfig config = switch_in(RegulationMode::kOff);
  config.classes.background_queue = 1;
  for (auto& port : config.ports) {
    port.regulation = {};
    port.queues.assign(2, {port.queue, port.marker, port.regulation});
    port.queues[0].queue.lossless = {
        .xoff_bytes = 3000, .xon_bytes = 1000, .headroom_bytes = 9000, .priority = 3};
  }
  Work work(config);
  add_background(work);
  add_bursts(work);
  EXPECT_EQ(work.done(), 0U);
  EXPECT_GT(work.report().queues[2 * B::kWest].pause.pauses_sent, 0U);
}

TEST(Allocation, PollsAllocateNothing) {
  if (!kCounts) GTEST_SKIP() << "sanitizers have an operator new of their own";
  auto config = four_ports();
  config.switches[0].ports[1].regulation.mode = RegulationMode::kMark;
  LcoresBench bench(config, 2);
  for (std::uint32_t round = 0; round < 20; ++round) {
    for (std::uint32_t i = 0; i < 64; ++i)
      bench.arrive(i % kPorts,
                   {.flow = {0x0A000001 + (i % kPorts << 8), 0x0A000001 + ((i + 1) % kPorts << 8),
                             static_cast<std::uint16_t>(i), 80},
                    .payload_bytes = 100});
    const std::uint64_t before = allocations;
    for (int i = 0; i < 3; ++i) bench.poll();
    EXPECT_EQ(allocations - before, 0U);
  }
  bench.leave();
  EXPECT_GT(bench.report().transmitted, 0U);
}

}  // namespace
}  // namespace outrider::allocation_test
