// Goal: every exchange keeps the contract of Exchange: a burst completes once, with all its
// bytes; its parts are reported once and before it; acknowledgments add up; and a peer that is
// gone completes nothing.
// Method: two workers and two targets behind a node that counts packets and can cut hosts off.
// All exchanges pass the same tests.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "common/net/burst_option.h"
#include "common/net/headers.h"
#include "common/net/roce.h"
#include "tests/support/frames.h"
#include "tests/support/pool.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/workload/exchange/job_records.h"
#include "trafficgen/workload/job/make_exchange.h"

namespace outrider::exchange_contract_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kWorkers = 2, kTargets = 2, kIterations = 4;
constexpr std::uint32_t kMtu = 1500;
constexpr BurstDirection kPush = BurstDirection::kPush, kPull = BurstDirection::kPull;

/// One kind of exchange.
struct Way {
  const char* name;
  bool bounded_loss;
  ConnectionReuse reuse;
  bool parts_told;
  bool roce = false;
  std::uint32_t queue_pairs = 1;

  /// Both have no connection that could break.
  [[nodiscard]] bool datagrams() const { return bounded_loss || roce; }
};

std::uint64_t key(const Lane& lane) {
  return std::uint64_t{lane.worker} << 32 | std::uint64_t{lane.target} << 8 |
         (lane.direction == kPull ? 1U : 0U);
}

/// Records what the exchange reports.
class Notebook final : public Exchange::Listener {
 public:
  struct Burst {
    std::uint64_t bytes = 0;
    std::uint64_t missing = 0;
    std::vector<std::uint32_t> parts{};  ///< reported before the burst and after the previous one
  };
  void on_part(const Lane& lane, std::uint32_t part, Time) noexcept override {
    parts_[key(lane)].push_back(part);
  }
  void on_burst(const Lane& lane, const BurstArrival& arrival, Time) noexcept override {
    Burst burst{arrival.bytes, 0, std::exchange(parts_[key(lane)], {})};
    for (const ByteRange& r : arrival.missing) burst.missing += r.end - r.begin;
    bursts[key(lane)].push_back(burst);
  }
  void on_acknowledged(const Lane& lane, std::uint64_t bytes, Time) noexcept override {
    acknowledged[key(lane)] += bytes;
  }
  void on_idle(const Lane&, Time) noexcept override {}
  void on_gave_up(Time) noexcept override { ++gave_up; }

  [[nodiscard]] std::size_t complete(const Lane& lane) { return bursts[key(lane)].size(); }
  /// Returns the parts that were reported but belong to no complete burst.
  [[nodiscard]] std::size_t loose_parts(const Lane& lane) { return parts_[key(lane)].size(); }

  std::map<std::uint64_t, std::vector<Burst>> bursts;
  std::map<std::uint64_t, std::uint64_t> acknowledged;
  int gave_up = 0;

 private:
  std::map<std::uint64_t, std::vector<std::uint32_t>> parts_;
};

/// Carries packets to their destination host, except packets of hosts that are cut off. If
/// configured, it loses every n-th packet.
class Crossing final : public Node {
 public:
  void receive(std::uint32_t, Packet* packet, Time now) noexcept override {
    const auto& ip = header_at<Ipv4Header>(*packet, sizeof(EthernetHeader));
    const std::uint32_t from = ip.source.get(), to = ip.destination.get();
    if (cut.contains(from) || cut.contains(to) || (lose_every > 0 && ++seen % lose_every == 0))
      return release(packet);
    const Arrival seen_now = arrival_of(*packet, 0, now);
    if (seen_now.payload_bytes > 0) last_data[{from, to}] = seen_now;
    note_roce(*packet, seen_now);
    links.at(to)->push(packet, now);
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, Arrival> last_data;  ///< by addresses
  std::map<FlowKey, std::uint64_t> roce_bytes;                           ///< payload of RoCEv2
  std::map<std::uint32_t, std::unique_ptr<Link>> links;
  std::set<std::uint32_t> cut;
  std::uint64_t lose_every = 0;
  std::uint64_t seen = 0;

 private:
  void note_roce(Packet& packet, const Arrival& arrival) {
    constexpr std::size_t kUdp = sizeof(EthernetHeader) + sizeof(Ipv4Header);
    const auto& udp = header_at<UdpHeader>(packet, kUdp);
    if (udp.destination_port.get() != roce::kPort) return;
    const auto datagram = std::span(arrival.bytes).subspan(kUdp + sizeof(UdpHeader));
    const auto bytes = static_cast<std::uint32_t>(udp.length.get() - sizeof(UdpHeader));
    roce::Message message;
    if (roce::decode(datagram, bytes, message)) return;
    FlowKey flow = arrival.flow;
    flow.source_port = udp.source_port.get();
    flow.destination_port = roce::kPort;
    roce_bytes[flow] += message.payload_bytes;
  }
};

std::vector<BurstPart> parts_of(std::initializer_list<std::uint64_t> bytes, bool parameters) {
  std::vector<BurstPart> parts;
  std::uint32_t layer = 0;
  for (const std::uint64_t b : bytes)
    parts.push_back({.bytes = b, .layer = layer++, .parameters = parameters});
  return parts;
}

struct Scene {
  explicit Scene(const Way& w, double tolerance = 0) : way(w) {
    for (std::uint32_t i = 0; i < kWorkers + kTargets; ++i) add_host(i);
    setup.tcp.reuse = w.reuse;
    setup.tcp.mss_bytes = kMtu - kIpAndTcpBytes - kBurstOptionBytes;
    setup.mtu_bytes = kMtu;
    setup.port = 5000;
    setup.targets = kTargets;
    setup.parts_told = w.parts_told;
    setup.queue_pairs = w.queue_pairs;
    setup.pushes_acknowledged = setup.pulls_acknowledged = true;
    for (std::uint32_t i = 0; i < kWorkers; ++i) setup.workers.push_back(hosts[i].get());
    for (std::uint32_t i = 0; i < kWorkers; ++i) {
      for (std::uint32_t t = 0; t < kTargets; ++t) {
        setup.ends.push_back(hosts[kWorkers + t].get());
        setup.pushes.push_back(parts_of({40'000, 120'000, 4'000}, false));
        setup.pulls.push_back(parts_of({8'000, 80'000}, true));
      }
    }
    std::optional<MltConfig> mlt;
    if (w.bounded_loss)
      mlt =
          MltConfig{.tolerance_push = tolerance, .tolerance_pull = tolerance, .probe_timeout = 2ms};
    std::optional<RoceConfig> roce;
    if (w.roce) roce = RoceConfig{.timeout = 2ms};
    exchange = make_exchange(setup, mlt, roce, records, notes);
    exchange->start();
    for (std::uint32_t i = 0; i < kWorkers; ++i) exchange->open(i, now());
    run(1ms);
  }
  ~Scene() {
    for (auto& link : up) link->flush();
    for (auto& [address, link] : crossing.links) link->flush();
  }
  void add_host(std::uint32_t i) {
    Host::Setup host{.name = "h" + std::to_string(i),
                     .address = 0x0A000001 + i,
                     .rate = BitRate{1'000'000'000},
                     .mtu_bytes = kMtu,
                     .index = i};
    hosts.push_back(std::make_unique<Host>(host, loop, pool.get(), memory));
    up.push_back(std::make_unique<Link>(loop, 10us, crossing, 0));
    hosts.back()->nic().connect(*up.back());
    crossing.links[hosts.back()->address()] = std::make_unique<Link>(loop, 10us, *hosts.back(), 0);
  }
  [[nodiscard]] Time now() const { return at; }
  void run(Duration for_this_long) {
    at += for_this_long;
    loop.run_until(at);
  }
  BurstLedger ledger(std::uint32_t worker, std::uint32_t iteration, BurstDirection d) const {
    return {{0, static_cast<std::uint16_t>(worker), iteration, d}, at};
  }
  [[nodiscard]] const std::vector<BurstPart>& parts(const Lane& lane) const {
    return (lane.direction == kPush ? setup.pushes
                                    : setup.pulls)[lane.worker * kTargets + lane.target];
  }
  void begin(std::uint32_t worker, std::uint32_t iteration) {
    exchange->begin_iteration(worker, iteration);
    exchange->begin_push(ledger(worker, iteration, kPush), BurstTime::kCompute, at);
  }
  void hand_over_all(const Lane& lane) {
    exchange->hand_over_all(lane, at);
    exchange->end(lane, at);
  }
  void push(std::uint32_t worker, std::uint32_t iteration) {
    begin(worker, iteration);
    for (std::uint32_t t = 0; t < kTargets; ++t) hand_over_all({worker, t, kPush});
  }
  void pull(std::uint32_t worker, std::uint32_t iteration) {
    for (std::uint32_t t = 0; t < kTargets; ++t) {
      exchange->begin_pull(ledger(worker, iteration, kPull), t, at);
      hand_over_all({worker, t, kPull});
    }
  }
  /// Calls a function for every lane of every worker.
  template <class F>
  void each_lane(F&& f) {
    for (std::uint32_t w = 0; w < kWorkers; ++w)
      for (std::uint32_t t = 0; t < kTargets; ++t)
        for (const BurstDirection d : {kPush, kPull}) f(Lane{w, t, d});
  }

  Way way;
  TestPool pool;
  EventLoop loop;
  TransportMemory memory{TransportMemory::Setup{}};
  Crossing crossing;
  std::vector<std::unique_ptr<Link>> up;
  std::vector<std::unique_ptr<Host>> hosts;
  GoodputSeries goodput{1ms, 1000};
  JobRecords records{{.iterations = kIterations,
                      .workers = kWorkers,
                      .targets = kTargets,
                      .flow_names = std::vector<std::string>(kWorkers * kTargets * 2, "flow")},
                     goodput};
  Notebook notes;
  ExchangeSetup setup;
  std::unique_ptr<Exchange> exchange;
  Time at{};
};

class ExchangeContract : public testing::TestWithParam<Way> {};

// Four iterations of both workers, with losses that have to be repaired.
TEST_P(ExchangeContract, ABurstCompletesOnceWithAllItsBytes) {
  Scene s(GetParam());
  s.crossing.lose_every = 40;
  for (std::uint32_t i = 0; i < kIterations; ++i) {
    for (std::uint32_t w = 0; w < kWorkers; ++w) s.push(w, i);
    s.run(5s);
    for (std::uint32_t w = 0; w < kWorkers; ++w) s.pull(w, i);
    s.run(5s);
    for (std::uint32_t w = 0; w < kWorkers; ++w) s.exchange->end_iteration(w);
    s.each_lane([&](const Lane& lane) {
      ASSERT_EQ(s.notes.complete(lane), i + 1) << lane.worker << lane.target;
      const Notebook::Burst& burst = s.notes.bursts[key(lane)].back();
      EXPECT_EQ(burst.bytes, bytes_of(s.parts(lane)));
      EXPECT_EQ(burst.missing, 0U);
      EXPECT_TRUE(s.exchange->idle(lane));
    });
  }
  s.run(5s);
  s.each_lane([&](const Lane& lane) {
    EXPECT_EQ(s.notes.complete(lane), kIterations) << "and never again";
    EXPECT_EQ(s.exchange->report(lane).delivered_bytes, kIterations * bytes_of(s.parts(lane)));
  });
  EXPECT_EQ(s.notes.gave_up, 0);
}

TEST_P(ExchangeContract, EveryPartIsToldOnceAndBeforeItsBurst) {
  Scene s(GetParam());
  s.crossing.lose_every = 40;
  s.push(0, 0);
  s.run(5s);
  s.pull(0, 0);
  s.run(5s);
  for (const Lane lane : {Lane{0, 0, kPush}, Lane{0, 1, kPush}, Lane{0, 0, kPull}}) {
    ASSERT_EQ(s.notes.complete(lane), 1U);
    std::vector<std::uint32_t> told = s.notes.bursts[key(lane)][0].parts;
    EXPECT_EQ(s.notes.loose_parts(lane), 0U);
    if (!s.way.parts_told) continue;
    if (!s.way.bounded_loss && s.way.queue_pairs == 1) {
      EXPECT_TRUE(std::ranges::is_sorted(told)) << "as handed over";
    }
    std::ranges::sort(told);
    std::vector<std::uint32_t> all(s.parts(lane).size());
    std::iota(all.begin(), all.end(), 0U);
    EXPECT_EQ(told, all);
  }
}

TEST_P(ExchangeContract, NothingCompletesBeforeAllOfItWasHandedOver) {
  Scene s(GetParam());
  const Lane lane{0, 0, kPush};
  s.begin(0, 0);
  const auto& parts = s.parts(lane);
  for (std::uint32_t p = 0; p + 1 < parts.size(); ++p)
    s.exchange->hand_over(lane, p, parts[p].bytes, s.now());
  s.run(2s);
  EXPECT_EQ(s.notes.complete(lane), 0U);
  EXPECT_EQ(s.notes.complete({0, 1, kPush}), 0U);
  const auto last = static_cast<std::uint32_t>(parts.size() - 1);
  s.exchange->hand_over(lane, last, parts[last].bytes, s.now());
  s.run(2s);
  EXPECT_EQ(s.notes.complete(lane), 1U);
  EXPECT_EQ(s.notes.complete({0, 1, kPush}), 0U) << "another lane is another burst";
}

TEST_P(ExchangeContract, AcknowledgmentsAddUpToWhatWasHandedOver) {
  Scene s(GetParam());
  s.crossing.lose_every = 40;
  for (std::uint32_t i = 0; i < 2; ++i) {
    s.push(0, i);
    s.run(5s);
    s.pull(0, i);
    s.run(5s);
    s.exchange->end_iteration(0);
    const std::uint64_t bursts = i + 1;
    for (const Lane lane : {Lane{0, 0, kPush}, Lane{0, 1, kPush}, Lane{0, 0, kPull}})
      if (s.way.reuse == ConnectionReuse::kKeep || s.way.bounded_loss) {
        EXPECT_EQ(s.notes.acknowledged[key(lane)], bursts * bytes_of(s.parts(lane)));
      } else {
        EXPECT_LE(s.notes.acknowledged[key(lane)], bursts * bytes_of(s.parts(lane)));
      }
  }
}

TEST_P(ExchangeContract, ABurstBeginsWhereItWasSaidToBegin) {
  Scene s(GetParam());
  for (std::uint32_t i = 0; i < 2; ++i) {
    s.exchange->begin_iteration(0, i);
    const BurstPlace named = s.exchange->next_place({0, 0, kPush});
    EXPECT_EQ(named.flow, s.exchange->flow({0, 0, kPush}));
    EXPECT_EQ(named.flow.destination_port, s.way.roce ? roce::kPort : s.setup.port);
    EXPECT_EQ(s.exchange->next_place({0, 0, kPush}).sequence, named.sequence)
        << "asking changes nothing";
    s.push(0, i);
    EXPECT_EQ(s.exchange->flow({0, 0, kPush}), named.flow);
    EXPECT_FALSE(s.exchange->first_sent_at({0, 0, kPush}) > s.now());
    s.run(2s);
    ASSERT_TRUE(s.exchange->first_sent_at({0, 0, kPush}).has_value() ||
                s.way.reuse == ConnectionReuse::kNew);
    s.pull(0, i);
    s.run(2s);
    s.exchange->end_iteration(0);
  }
}

// Announced pulls name the target's side of the flow.
TEST_P(ExchangeContract, APullBeginsWhereItWasSaidToBegin) {
  Scene s(GetParam());
  if (s.way.reuse == ConnectionReuse::kNew && !s.way.datagrams()) {
    EXPECT_EQ(s.exchange->next_place({0, 0, kPull}).flow, FlowKey{}) << "nobody is connected";
  }
  std::uint32_t sequence_before = 0;
  for (std::uint32_t i = 0; i < 2; ++i) {
    s.exchange->begin_iteration(0, i);
    s.push(0, i);
    s.run(2s);
    const BurstPlace named = s.exchange->next_place({0, 0, kPull});
    EXPECT_EQ(named.flow, s.exchange->flow({0, 0, kPull}));
    if (!s.way.roce) {
      EXPECT_EQ(named.flow.source_port, s.setup.port);
    }
    EXPECT_EQ(named.flow.source_address, s.setup.ends[0]->address());
    EXPECT_EQ(named.flow.destination_address, s.setup.workers[0]->address());
    EXPECT_EQ(s.exchange->next_place({0, 0, kPull}).sequence, named.sequence)
        << "asking changes nothing";
    const bool one_connection = s.way.reuse != ConnectionReuse::kNew && !s.way.datagrams();
    if (one_connection && i == 1) {
      EXPECT_EQ(named.sequence, sequence_before + bytes_of(s.parts({0, 0, kPull})));
    }
    sequence_before = named.sequence;
    s.pull(0, i);
    EXPECT_EQ(s.exchange->flow({0, 0, kPull}), named.flow);
    s.run(2s);
    s.exchange->end_iteration(0);
  }
}

// The target vanishes in the middle of a push, for longer than all retries.
TEST_P(ExchangeContract, APeerThatIsGoneCompletesNothing) {
  Scene s(GetParam());
  s.push(0, 0);
  s.run(200us);
  s.crossing.cut.insert(s.hosts[kWorkers]->address());
  s.run(4000s);
  EXPECT_EQ(s.notes.complete({0, 0, kPush}), 0U);
  EXPECT_EQ(s.notes.complete({0, 1, kPush}), 1U) << "the other one has its burst";
  if (s.way.datagrams()) EXPECT_GT(s.notes.gave_up, 0);
  else EXPECT_FALSE(s.exchange->connected({0, 0, kPush}));
  // Calls for this peer stay valid; their data are lost.
  s.pull(0, 0);
  s.exchange->end({0, 0, kPush}, s.now());
  s.exchange->note_last();
  s.run(10s);
  EXPECT_EQ(s.notes.complete({0, 0, kPull}), 0U);
}

// Only a connection can break and come back; a flow of datagrams has none.
TEST_P(ExchangeContract, WhatBrokeWhileIdleCarriesTheNextBurst) {
  Scene s(GetParam());
  s.push(0, 0);
  s.run(2s);
  s.pull(0, 0);
  s.run(2s);
  s.exchange->end_iteration(0);
  const FlowKey flow = s.exchange->flow({0, 0, kPush});
  std::uint32_t next = 1;
  if (!s.way.datagrams() && s.way.reuse == ConnectionReuse::kKeep) {
    ASSERT_NE(flow, FlowKey{});
    s.exchange->begin_iteration(0, 1);
    // Both ends write to a peer that does not answer, and give up.
    s.crossing.cut.insert(s.hosts[0]->address());
    s.exchange->begin_push(s.ledger(0, 1, kPush), BurstTime::kCompute, s.now());
    s.exchange->hand_over({0, 0, kPush}, 0, 40'000, s.now());
    s.exchange->begin_pull(s.ledger(0, 1, kPull), 0, s.now());
    s.exchange->hand_over({0, 0, kPull}, 0, 8'000, s.now());
    s.run(4000s);
    ASSERT_FALSE(s.exchange->connected({0, 0, kPush}));
    ASSERT_EQ(s.exchange->flow({0, 0, kPush}), FlowKey{});
    s.crossing.cut.clear();
    next = 2;
  }
  s.push(0, next);
  s.run(5s);
  EXPECT_EQ(s.notes.complete({0, 0, kPush}), 2U);
  EXPECT_EQ(s.notes.bursts[key({0, 0, kPush})].back().bytes, bytes_of(s.parts({0, 0, kPush})));
}

TEST_P(ExchangeContract, WorkersDoNotTouchEachOther) {
  Scene s(GetParam());
  s.push(1, 0);
  s.run(2s);
  EXPECT_EQ(s.notes.complete({1, 0, kPush}), 1U);
  EXPECT_EQ(s.notes.complete({1, 1, kPush}), 1U);
  EXPECT_EQ(s.notes.complete({0, 0, kPush}), 0U);
  EXPECT_EQ(s.exchange->report({0, 0, kPush}).delivered_bytes, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, ExchangeContract,
    testing::Values(Way{"TcpKept", false, ConnectionReuse::kKeep, false},
                    Way{"TcpKeptByParts", false, ConnectionReuse::kKeep, true},
                    Way{"TcpNewConnections", false, ConnectionReuse::kNew, false},
                    Way{"BoundedLoss", true, ConnectionReuse::kKeep, true},
                    Way{"Roce", false, ConnectionReuse::kKeep, false, true},
                    Way{"RoceByParts", false, ConnectionReuse::kKeep, true, true},
                    Way{"RoceThreeQueuePairs", false, ConnectionReuse::kKeep, false, true, 3},
                    Way{"RoceThreeByParts", false, ConnectionReuse::kKeep, true, true, 3}),
    [](const testing::TestParamInfo<Way>& way) { return std::string(way.param.name); });

// What equal-cost paths tell apart is the source port, that of the queue pair.
TEST(ExchangeQueuePairs, TakeABurstsMessagesInTurn) {
  Scene s({"Roce", false, ConnectionReuse::kKeep, false, true, 8});
  s.push(0, 0);
  s.run(2s);
  const Lane lane{0, 0, kPush};
  ASSERT_EQ(s.notes.complete(lane), 1U);
  const std::uint32_t from = s.hosts[0]->address(), to = s.hosts[kWorkers]->address();
  std::uint64_t sum = 0, least = ~0ULL, most = 0, ports = 0;
  for (const auto& [flow, bytes] : s.crossing.roce_bytes) {
    if (flow.source_address != from || flow.destination_address != to) continue;
    ++ports;
    sum += bytes;
    least = std::min(least, bytes);
    most = std::max(most, bytes);
  }
  EXPECT_EQ(ports, 8U);
  EXPECT_EQ(sum, bytes_of(s.parts(lane))) << "each byte once";
  EXPECT_LT(most - least, 3 * 8 * 1024U) << "apart by whole packets of each part at most";
  EXPECT_EQ(s.exchange->roce().queue_pairs, 8U * kWorkers * kTargets);
  EXPECT_EQ(s.exchange->report(lane).delivered_bytes, bytes_of(s.parts(lane)));
  EXPECT_EQ(s.exchange->flow(lane), s.exchange->next_place(lane).flow);
}

// A SYN with a worker's address says nothing about the worker, whose connection goes on.
TEST(ExchangeBounds, ASynAloneTakesNoConnectionsPlace) {
  for (const ConnectionReuse reuse : {ConnectionReuse::kKeep, ConnectionReuse::kNew}) {
    Scene s({"Tcp", false, reuse, false});
    s.begin(0, 0);
    s.hand_over_all({0, 0, kPush});
    s.run(300us);
    Host& target = *s.hosts[kWorkers];
    const FlowKey other{s.hosts[0]->address(), target.address(), 1024, s.setup.port};
    target.receive(0, make_packet(s.pool.get(), {.flow = other, .tcp_flags = kTcpSyn}), s.now());
    s.run(1s);
    EXPECT_EQ(s.notes.complete({0, 0, kPush}), 1U);
    EXPECT_TRUE(s.exchange->connected({0, 0, kPull}) || reuse == ConnectionReuse::kNew);
  }
}

// Bytes beyond what was handed over come from a third party that knows the connection's numbers.
// They complete nothing, and the connection, whose numbers are spoilt, is reset.
TEST(ExchangeBounds, InjectedBytesCompleteNothingAndResetTheConnection) {
  for (const bool parts_told : {false, true}) {
    for (const BurstDirection direction : {kPush, kPull}) {
      Scene s({"TcpKept", false, ConnectionReuse::kKeep, parts_told});
      s.push(0, 0);
      s.run(2s);
      s.pull(0, 0);
      s.run(2s);
      const Lane lane{0, 0, direction};
      const bool push = direction == kPush;
      Host& victim = *s.hosts[push ? kWorkers : 0];
      const std::uint32_t from = s.hosts[push ? 0 : kWorkers]->address();
      const Arrival last = s.crossing.last_data.at({from, victim.address()});
      const std::uint64_t burst = bytes_of(s.parts(lane));
      for (std::uint64_t sent = 0; sent < 3 * burst; sent += 1000)
        victim.receive(0,
                       make_packet(s.pool.get(), {.flow = last.flow,
                                                  .sequence = last.sequence + last.payload_bytes +
                                                              static_cast<std::uint32_t>(sent),
                                                  .acknowledgment = last.acknowledgment,
                                                  .payload_bytes = 1000}),
                       s.now());
      s.run(1s);
      EXPECT_EQ(s.records.excess_resets(), 1U) << parts_told << push;
      EXPECT_EQ(s.notes.complete(lane), 1U) << parts_told << push;
      EXPECT_EQ(s.exchange->report(lane).delivered_bytes, burst) << parts_told << push;
      EXPECT_FALSE(s.exchange->connected({0, 0, kPush})) << parts_told << push;
      EXPECT_FALSE(s.exchange->connected({0, 0, kPull})) << parts_told << push;
      s.exchange->end_iteration(0);
      s.push(0, 1);
      s.run(5s);
      EXPECT_EQ(s.notes.complete({0, 0, kPush}), 2U) << "a new connection carries the next one";
    }
  }
}

// Only for bounded loss: delivered and missing bytes make up the burst, within the bound.
TEST(ExchangeBounds, WhatIsMissingAndWhatIsThereAreTheBurst) {
  Scene s({"BoundedLoss", true, ConnectionReuse::kKeep, true}, 0.2);
  s.crossing.lose_every = 10;
  std::uint64_t missing = 0;
  for (std::uint32_t i = 0; i < kIterations; ++i) {
    s.push(0, i);
    s.run(5s);
    s.pull(0, i);
    s.run(5s);
    s.exchange->end_iteration(0);
    for (const Lane lane : {Lane{0, 0, kPush}, Lane{0, 0, kPull}}) {
      ASSERT_EQ(s.notes.complete(lane), i + 1);
      const Notebook::Burst& burst = s.notes.bursts[key(lane)].back();
      EXPECT_EQ(burst.bytes + burst.missing, bytes_of(s.parts(lane)));
      EXPECT_LE(static_cast<double>(burst.missing),
                0.2 * static_cast<double>(bytes_of(s.parts(lane))));
      missing += burst.missing;
    }
  }
  EXPECT_GT(missing, 0U);
}

}  // namespace
}  // namespace outrider::exchange_contract_test
