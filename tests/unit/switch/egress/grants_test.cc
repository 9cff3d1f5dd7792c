// Goal: the port that bursts leave through holds the answers to STARTs, gives each back in its turn
// and loses none; what regulates a burst begins with its grant. Method: one switch, with answers in
// both forms of the signal.
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/switch/switch_bench.h"

namespace outrider::grants_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using B = SwitchBench;

constexpr std::uint32_t kFirst = 100'000;  // sequence number of a burst's first byte
constexpr std::uint64_t kBurst = 5 * B::kPayload;

/// Returns a switch that grants one burst at a time.
SwitchConfig granting(RegulationMode mode = RegulationMode::kOff) {
  auto config = B::config();
  config.signals.accept_from = {"10.0.1.0/24", "10.0.3.0/24"};  // servers answer
  config.signals.burst_sizes = {{.destinations = {"10.0.3.0/24"}, .bytes = kBurst}};
  for (auto& port : config.ports) {
    port.marker.kind = MarkerKind::kTailDrop;
    port.regulation.mode = RegulationMode::kOff;
  }
  RegulationPolicy& policy = config.ports[B::kEast].regulation;
  policy.mode = mode;
  policy.recovery = Recovery::kBurstEnd;
  policy.idle_end = 2ms;
  policy.expiry = 10ms;
  policy.budget_share = 1;
  policy.grant = {.order = GrantOrder::kFirst, .budget_bytes = kBurst, .overlap = 0ns, .idle = 3ms};
  return config;
}

FrameSpec answer(std::uint32_t worker, std::uint32_t sequence = kFirst) {
  return {.flow = B::ddl_flow(worker).reversed(),
          .tos = ack_tos(10),
          .sequence = sequence,
          .tcp_flags = 0};
}

/// Announces a burst, and answers it.
void ask(B& bench, std::uint32_t worker, Time now, std::uint32_t sequence = kFirst) {
  bench.send(B::start(worker, sequence, 10), now);
  bench.send(answer(worker, sequence), now + 20us, B::kEast);
}

void burst(B& bench, std::uint32_t worker, Time now, std::uint32_t packets = 5) {
  for (std::uint32_t i = 0; i < packets; ++i)
    bench.send(B::data(worker, kFirst + i * B::kPayload), now + i * 10us);
}

/// Returns the workers to whom answers have passed, in order.
std::vector<std::uint32_t> answered(const B& bench) {
  std::vector<std::uint32_t> workers;
  for (const auto& a : bench.out[B::kWest].arrivals)
    workers.push_back(a.flow.destination_address - B::ddl_flow(0).source_address);
  return workers;
}

QueueReport east(const B& bench) { return bench.report({}).queues[B::kEast]; }

using Workers = std::vector<std::uint32_t>;

TEST(Grants, AnAnswerWaitsForTheBurstBefore) {
  B bench(granting());
  ask(bench, 0, Time{});
  ask(bench, 1, Time{30us});
  bench.loop.run_until(Time{1ms});
  EXPECT_EQ(answered(bench), Workers{0});
  EXPECT_EQ(east(bench).held_answers, 1U);
  EXPECT_EQ(bench.report({}).resident, 1U);
  EXPECT_TRUE(bench.report({}).ledger_balanced) << "the answer is counted as resident";
  burst(bench, 0, Time{1ms});
  bench.run();
  EXPECT_EQ(answered(bench), (Workers{0, 1}));
  EXPECT_EQ(east(bench).grant.granted, 1U);
  EXPECT_EQ(east(bench).grant.acks_at_once, 1U);
  EXPECT_TRUE(bench.report({}).ledger_balanced);
  EXPECT_EQ(bench.report({}).resident, 0U);
}

TEST(Grants, APortWithoutThemHoldsNothing) {
  auto config = granting();
  config.ports[B::kEast].regulation.grant.order = GrantOrder::kOff;
  B bench(config);
  ask(bench, 0, Time{});
  ask(bench, 1, Time{30us});
  bench.run();
  EXPECT_EQ(answered(bench), (Workers{0, 1}));
}

TEST(Grants, WhatQueuesOfTheBurstCountsUntilItLeaves) {
  B bench(granting());
  ask(bench, 0, Time{});
  ask(bench, 1, Time{30us});
  bench.loop.run_until(Time{1ms});
  bench.fill(20, Time{1ms});  // 160 us of the link
  burst(bench, 0, Time{1ms} + 1us);
  bench.loop.run_until(Time{1ms} + 150us);
  EXPECT_EQ(answered(bench), Workers{0}) << "its burst has come, but waits";
  bench.loop.run_until(Time{1ms} + 230us);
  EXPECT_EQ(answered(bench), (Workers{0, 1})) << "its burst has left";
}

TEST(Grants, TimeAloneEndsAGrant) {
  B bench(granting());
  ask(bench, 0, Time{});  // and dies
  ask(bench, 1, Time{30us});
  bench.loop.run_until(Time{2900us});
  EXPECT_EQ(answered(bench), Workers{0});
  bench.run();
  EXPECT_EQ(answered(bench), (Workers{0, 1})) << "no packet came";
  const auto& last = bench.out[B::kWest].arrivals.back();
  EXPECT_NEAR(static_cast<double>((last.at - Time{20us}).count()), 3e6, 1e4) << "`idle`";
  EXPECT_EQ(east(bench).announced_bursts, 0U);
}

TEST(Grants, CopiesAndOldAnswersHaveAnEnd) {
  B bench(granting());
  ask(bench, 0, Time{});
  ask(bench, 1, Time{30us});
  bench.send(answer(1), Time{60us}, B::kEast);
  EXPECT_EQ(bench.drops(TrafficClass::kBackground, DropReason::kRepeatedAnswer), 1U);
  bench.send(B::start(1, kFirst + 50'000, 10), Time{70us});
  EXPECT_EQ(bench.drops(TrafficClass::kBackground, DropReason::kRepeatedAnswer), 2U)
      << "nobody waits for the answer to the older START";
  EXPECT_EQ(east(bench).held_answers, 0U);
  EXPECT_TRUE(bench.report({}).ledger_balanced);
}

TEST(Grants, StrangersAnswersPass) {
  B bench(granting());
  ask(bench, 0, Time{});
  ask(bench, 1, Time{30us});
  bench.send(answer(2), Time{60us}, B::kEast);              // nobody asked
  bench.send(answer(1, kFirst + 1), Time{70us}, B::kEast);  // of another burst
  bench.loop.run_until(Time{1ms});
  EXPECT_EQ(answered(bench), (Workers{0, 2, 1}));
  EXPECT_EQ(east(bench).held_answers, 1U);
}

TEST(Grants, RegulationBeginsWithTheGrant) {
  B bench(granting(RegulationMode::kMark));
  ask(bench, 0, Time{});
  ask(bench, 1, Time{30us});
  bench.loop.run_until(Time{1ms});
  EXPECT_EQ(east(bench).starts_armed, 1U);
  burst(bench, 0, Time{1ms});
  bench.loop.run_until(Time{2ms});
  EXPECT_EQ(east(bench).starts_armed, 2U);
  EXPECT_EQ(east(bench).recovered_burst_end, 1U) << "its size is known";
}

TEST(Grants, ABurstsSizeFollowsFromWhereItGoes) {
  auto config = granting();
  config.signals.burst_sizes = {
      {.destinations = {"10.0.3.0/24"}, .destination_ports = PortRange{1, 4999}, .bytes = 1},
      {.destinations = {"10.0.7.0/24", "10.0.3.0/28"}, .bytes = 3 * B::kPayload},
      {.destinations = {"0.0.0.0/0"}, .bytes = kBurst}};
  B bench(config);
  ask(bench, 0, Time{});
  ask(bench, 1, Time{30us});
  bench.loop.run_until(Time{1ms});
  EXPECT_EQ(east(bench).granted_bytes, 3 * B::kPayload) << "the first row that matches";
  burst(bench, 0, Time{1ms}, 3);
  bench.loop.run_until(Time{1100us});
  EXPECT_EQ(answered(bench), (Workers{0, 1})) << "its burst is over with the third packet";
}

TEST(Grants, WhoFindsNoPlaceIsAnsweredAsEver) {
  auto config = granting(RegulationMode::kMark);
  config.ports[B::kEast].regulation.max_entries = 2;
  config.ports[B::kEast].regulation.max_entries_per_sender = 2;
  B bench(config);
  for (std::uint32_t i = 0; i < 4; ++i) ask(bench, i, Time{i * 50us});
  bench.loop.run_until(Time{1ms});
  EXPECT_EQ(answered(bench), (Workers{0, 2, 3}));
  EXPECT_EQ(east(bench).grant.refused_table, 2U);
}

TEST(Grants, AReloadOfTheRateChangesTheRoomOfTheOverlap) {
  auto config = granting();
  config.ports[B::kEast].regulation.grant.overlap = 40us;  // 5,000 B at 1 Gbit/s
  for (const bool halves : {false, true}) {
    B bench(config);
    auto to = config;
    if (halves) to.ports[B::kEast].drain_rate.bits_per_second /= 2;
    SwitchChange change = bench.sw.prepare(config, to);
    bench.sw.apply(change, {});
    bench.sw.retire(change);
    ask(bench, 0, Time{});
    ask(bench, 1, Time{30us});
    bench.loop.run_until(Time{1ms});
    EXPECT_EQ(answered(bench), halves ? Workers{0} : (Workers{0, 1})) << "a burst has 4,730 B";
  }
}

TEST(Grants, FlushReleasesWhatIsHeld) {
  B bench(granting());
  ask(bench, 0, Time{});
  ask(bench, 1, Time{30us});
  bench.loop.run_until(Time{1ms});
  EXPECT_EQ(waiting_packets(bench.sw.port(B::kEast)), 1U);
  bench.sw.flush();  // the pool's test for leaks sees the rest
}

/// Returns a switch that steers granted bursts to the strict queue 0, and grants one at a time.
SwitchConfig leasing() {
  auto config = granting();
  config.signals.accept_udp = true;
  config.ddl_ports = {1, 1};
  config.classes.background_queue = config.classes.ddl_queue = 1;
  for (auto& port : config.ports) {
    port.scheduler = SchedulerKind::kStrict;
    port.queues.assign(2, {port.queue, port.marker, port.regulation});
    port.queues[0].regulation = {};
    port.regulation = {};
  }
  RegulationPolicy& policy = config.ports[B::kEast].queues[1].regulation;
  policy.mode = RegulationMode::kSteer;
  return config;
}

/// Sends a message of the UDP form.
void message(B& bench, udp_signal::Kind kind, std::uint32_t worker, std::uint64_t bytes, Time now) {
  const FlowKey flow = B::ddl_flow(worker);
  const udp_signal::Signal signal{.kind = kind,
                                  .threshold_packets = 10,
                                  .burst_bytes = bytes,
                                  .source_port = flow.source_port,
                                  .destination_port = flow.destination_port,
                                  .sequence = kFirst};
  const bool is_start = kind == udp_signal::Kind::kStart;
  FlowKey datagram{flow.source_address, flow.destination_address, udp_signal::kDefaultPort,
                   udp_signal::kDefaultPort};
  if (!is_start) datagram = datagram.reversed();
  constexpr std::size_t kUdp = 14 + 20, kMessage = kUdp + 8;
  constexpr std::uint8_t kLength = 8 + udp_signal::kBytes;
  auto frame = bytes_of({.flow = datagram,
                         .protocol = kIpProtocolUdp,
                         .payload_bytes = kLength - 20});  // a TCP header is longer
  frame[kUdp + 4] = 0;
  frame[kUdp + 5] = kLength;
  frame[kUdp + 6] = frame[kUdp + 7] = 0;  // no checksum
  udp_signal::encode(signal, std::span(frame).subspan<kMessage, udp_signal::kBytes>());
  bench.receive(is_start ? B::kWest : B::kEast, packet_of(bench.pool.get(), frame), now);
}

TEST(Grants, ACheaterLosesTheLease) {
  B bench(leasing());
  message(bench, udp_signal::Kind::kStart, 0, kBurst, Time{});
  message(bench, udp_signal::Kind::kAck, 0, kBurst, Time{20us});
  burst(bench, 0, Time{1ms}, 12);  // it announced 5 packets
  bench.run();
  const QueueReport from = bench.report({}).queues[2 * B::kEast + 1];
  EXPECT_EQ(from.steer.packets, 5U) << "the lease ends with the announced bytes";
  EXPECT_EQ(from.recovered_burst_end, 1U);
  EXPECT_LE(from.steer.after_end, 5U) << "as many as waited";
  EXPECT_GE(from.arrived[TrafficClass::kBackground], 2U);
}

TEST(Grants, WhoDoesNotWaitGetsNoLease) {
  B bench(leasing());
  message(bench, udp_signal::Kind::kStart, 0, kBurst, Time{});
  burst(bench, 0, Time{1us});
  bench.run();
  const QueueReport from = bench.report({}).queues[2 * B::kEast + 1];
  EXPECT_EQ(from.steer.packets, 0U);
  EXPECT_EQ(from.grant.came_unasked, 1U);
}

}  // namespace
}  // namespace outrider::grants_test
