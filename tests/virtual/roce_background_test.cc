// Goal: background over RoCEv2 delivers every byte of long flows and of flows with sizes, shares a
// link fairly, uses its queue pairs again, and is regulated as background beside bursts over
// RoCEv2. Method: virtual time over a dumbbell of 10 Gbit/s.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/support/source_path.h"
#include "tests/virtual/roce_scene.h"
#include "trafficgen/channel/queue_pair_limits.h"
#include "trafficgen/roce/path_mtu.h"

namespace outrider::roce_background_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kPathMtu = 1024;
constexpr std::uint32_t kBurstDscp = 26;
constexpr std::uint32_t kBackgroundDscp = 24;

/// Two workers beside hosts b0.. and c0.. for background.
Dumbbell dumbbell(std::uint32_t pairs) {
  Dumbbell d = roce_dumbbell(2, 2'000'000);
  d.background_flows = pairs;
  d.job.announce.signal_form = SignalForm::kUdp;  // no DSCP reads as a START
  return d;
}

/// Returns the traffic with background over RoCEv2 as well.
GeneratorConfig traffic_over_roce(const Dumbbell& d, RoceConfig background = {}) {
  RoceConfig bursts;
  bursts.dscp = kBurstDscp;
  background.dscp = kBackgroundDscp;
  GeneratorConfig g = roce_traffic(d, bursts);
  g.transports[1].tcp = {};
  g.transports[1].protocol = TransportProtocol::kRoce;
  g.transports[1].roce = background;
  return g;
}

/// The same without a burst during the test.
GeneratorConfig background_alone(const Dumbbell& d, const RoceConfig& background = {}) {
  GeneratorConfig g = traffic_over_roce(d, background);
  g.jobs[0].schedule = Schedule::kFixed;
  g.jobs[0].first_due = 1000s;
  g.jobs[0].period = 1s;
  g.jobs[0].compute.reset();
  g.long_flows[0].start_spread = {};
  return g;
}

SwitchProcessConfig switches_by_dscp(const Dumbbell& d) {
  SwitchProcessConfig c = d.switches();
  for (auto& sw : c.switches) sw.classes.dscp_ddl = {kBurstDscp, RoceConfig{}.cnp_dscp};
  return c;
}

FlowsConfig arriving(const std::string& distribution) {
  FlowsConfig c;
  c.name = "arriving";
  c.from = {"b0", "b1"};
  c.to = {"c0", "c1"};
  c.distribution = distribution;
  c.load = 0.2;
  c.transport = "background";
  c.records = 100'000;
  return c;
}

GeneratorConfig with_flows(GeneratorConfig g, const FlowsConfig& flows) {
  g.long_flows.clear();
  g.flows = {flows};
  return g;
}

std::string distribution_of_one_size(std::uint64_t bytes) {
  const std::string path = ::testing::TempDir() + "roce-one-size.cdf";
  std::ofstream(path) << bytes << " 1\n";
  return path;
}

void expect_identities(const FlowGroupReport& r) {
  EXPECT_EQ(r.arrivals, r.refused + r.completed + r.failed + r.open);
  std::uint64_t counted = 0;
  for (const auto& c : r.classes) counted += c.completion_ns.count();
  EXPECT_EQ(r.completed, counted);
  EXPECT_LE(r.delivered_bytes, r.arrived_bytes);
}

TEST(RoceBackground, AFlowAloneTakesItsIdeal) {
  const Mempool pool = make_test_pool(20'000);
  const Dumbbell d = dumbbell(2);
  FlowsConfig flows = arriving(distribution_of_one_size(100'000));
  flows.load.reset();
  flows.rate = BitRate{80'000'000};  // a flow every 10 ms
  flows.arrivals = ArrivalProcess::kFixed;
  flows.max_flows = 40;
  GeneratorConfig g = with_flows(background_alone(d), flows);
  g.send_jitter = 0;
  Simulation simulation(switches_by_dscp(d), g, *pool);
  simulation.run_until(Time{} + 600ms);
  const RunResult result = simulation.result();
  const FlowGroupReport& r = result.traffic.flow_groups.at(0);
  expect_identities(r);
  ASSERT_EQ(r.completed, 40U);
  EXPECT_EQ(r.delivered_bytes, 4'000'000U);
  ASSERT_EQ(r.records.size(), 40U);
  // 98 packets at 10 Gbit/s; each of three more hops adds the time of the last packet, which has
  // 672 bytes of payload; propagation one way is 10 us.
  const double frames_us = static_cast<double>(wire_bytes_of_write(100'000, kPathMtu)) * 8 / 1e4;
  const double last_us = (672 + kAroundPayloadBytes) * 8 / 1e4;
  for (const auto& f : r.records) {
    EXPECT_EQ(f.bytes, 100'000U);
    EXPECT_EQ(f.established_ns, -1) << "there is no handshake";
    const double took_us = static_cast<double>(f.delivered_ns - f.arrival_ns) / 1e3;
    EXPECT_NEAR(took_us, frames_us + 3 * last_us + 10, 1.5);
    EXPECT_NEAR(static_cast<double>(f.slowdown_milli), 1000, 2);
  }
}

/// Flows of `bytes`, one from each sender, that begin at one instant and share one port.
FlowGroupReport incast_of(std::uint32_t senders, std::uint64_t bytes) {
  const Mempool pool = make_test_pool(60'000);
  const Dumbbell d = dumbbell(senders);
  FlowsConfig flows;
  flows.name = "incast";
  flows.transport = "background";
  flows.records = senders;
  flows.list = ::testing::TempDir() + "roce-incast.txt";
  flows.hosts = {"c0"};
  std::ofstream list(*flows.list);
  list << senders << '\n';
  for (std::uint32_t i = 0; i < senders; ++i) {
    flows.hosts.push_back("b" + std::to_string(i));
    list << i + 1 << " 0 3 100 " << bytes << " 0\n";
  }
  list.close();
  RoceConfig fixed;  // no controller between the figure and the port
  fixed.controller = RoceController::kFixed;
  fixed.window_packets = 200;
  GeneratorConfig g = with_flows(background_alone(d, fixed), flows);
  g.send_jitter = 0;
  Simulation simulation(switches_by_dscp(d), g, *pool);
  simulation.run_until(Time{} + 2s);
  return simulation.result().traffic.flow_groups.at(0);
}

// Each pair has one flow, and no flow met an empty port.
TEST(RoceBackground, TheFirstFlowsOfPairsThatShareAPortAreSlowedDownByTheirNumber) {
  for (const auto& [senders, bytes] :
       {std::pair{2U, 4'000'000U}, std::pair{8U, 1'000'000U}, std::pair{8U, 20'000U}}) {
    const FlowGroupReport r = incast_of(senders, bytes);
    ASSERT_EQ(r.records.size(), senders);
    std::uint64_t most = 0;
    for (const auto& f : r.records) most = std::max(most, f.slowdown_milli);
    const double frames_us = static_cast<double>(wire_bytes_of_write(bytes, kPathMtu)) * 8 / 1e4;
    const double ideal_us = frames_us + 10 + 3 * 0.9;  // three more hops of a full packet
    const double all_us = senders * frames_us + 10 + 3 * 0.9;
    EXPECT_NEAR(static_cast<double>(most) / 1e3, all_us / ideal_us, 0.05 * senders)
        << senders << " senders, " << bytes << " B";
  }
}

TEST(RoceBackground, ArrivingFlowsUseQueuePairsAgainAndDeliverEveryByte) {
  const Mempool pool = make_test_pool(20'000);
  const Dumbbell d = dumbbell(2);
  FlowsConfig flows = arriving(source_path("conf/distributions/hadoop.cdf"));
  flows.duration = 300ms;
  flows.queue_pairs = 8;
  Simulation simulation(switches_by_dscp(d), with_flows(background_alone(d), flows), *pool);
  simulation.run_until(Time{} + 800ms);
  const RunResult result = simulation.result();
  const FlowGroupReport& r = result.traffic.flow_groups.at(0);
  expect_identities(r);
  EXPECT_EQ(r.open + r.failed + r.refused, 0U);
  EXPECT_GT(r.completed, 20U * 4 * 8) << "each queue pair many times";
  EXPECT_EQ(r.delivered_bytes, r.arrived_bytes);
  const double asked = static_cast<double>(r.offered_bps) / 8 * 0.3;
  EXPECT_NEAR(asked, 0.2 * 2e10 / 8 * 0.3 * kPathMtu / (kPathMtu + kAroundPayloadBytes), 1000);
  EXPECT_NEAR(static_cast<double>(r.arrived_bytes), asked, 0.25 * asked) << "a heavy tail";
  std::uint64_t slower = 0;
  for (const auto& f : r.records) {
    EXPECT_GE(f.slowdown_milli, 1000U) << f.bytes << " B, faster than on an empty network";
    slower += f.slowdown_milli > 2000;
  }
  EXPECT_GT(slower, 0U) << "flows do meet each other";
  std::uint64_t of_bins = 0;
  for (const auto& bin : result.traffic.bins)
    of_bins += bin.delivered_bytes[TrafficClass::kBackground];
  EXPECT_EQ(of_bins, r.delivered_bytes) << "what background's cost is made of";
  EXPECT_TRUE(result.traffic.ledger_balanced);
  EXPECT_GT(result.traffic.background_roce.queue_pairs, 0U);
  RoceCounters of_jobs = result.traffic.roce;
  of_jobs.queue_pairs = 0;
  EXPECT_EQ(of_jobs, RoceCounters{}) << "the job sends nothing";
  EXPECT_GT(result.traffic.background_roce.in_order, r.delivered_bytes / kPathMtu);
}

TEST(RoceBackground, FlowsThatFindNoQueuePairAreRefused) {
  const Mempool pool = make_test_pool(20'000);
  const Dumbbell d = dumbbell(2);
  FlowsConfig flows = arriving(distribution_of_one_size(10'000'000));
  flows.to = {"c0"};
  flows.from = {"b0"};
  flows.load = 1;  // a flow every 8.6 ms, of 8.5 ms each
  flows.arrivals = ArrivalProcess::kPoisson;
  flows.queue_pairs = 1;
  flows.duration = 200ms;
  Simulation simulation(switches_by_dscp(d), with_flows(background_alone(d), flows), *pool);
  simulation.run_until(Time{} + 300ms);
  const RunResult result = simulation.result();
  const FlowGroupReport& r = result.traffic.flow_groups.at(0);
  expect_identities(r);
  EXPECT_GT(r.refused, 3U);
  EXPECT_GT(r.completed, 3U);
  EXPECT_EQ(r.delivered_bytes, 10'000'000 * r.completed);
}

// Without a number of its own, a pair of hosts has as many queue pairs as flows at once.
TEST(RoceBackground, QueuePairsFollowFromTheFlows) {
  constexpr std::uint64_t kFlows = 100;
  const Mempool pool = make_test_pool(20'000);
  const Dumbbell d = dumbbell(2);
  FlowsConfig flows = arriving(distribution_of_one_size(100'000));
  flows.to = {"c0"};
  flows.from = {"b0"};
  flows.load = 9;  // 100 flows in 1 ms, of which one takes 0.09 ms
  flows.max_flows = kFlows;
  Simulation simulation(switches_by_dscp(d), with_flows(background_alone(d), flows), *pool);
  simulation.run_until(Time{} + 1ms);
  EXPECT_GT(simulation.result().traffic.flow_groups.at(0).open, kFirstQueuePairs);
  simulation.run_until(Time{} + 300ms);
  const RunResult result = simulation.result();
  const FlowGroupReport& r = result.traffic.flow_groups.at(0);
  expect_identities(r);
  EXPECT_EQ(r.refused, 0U);
  EXPECT_EQ(r.completed, kFlows);
  EXPECT_EQ(r.delivered_bytes, kFlows * 100'000);
  EXPECT_GT(result.traffic.background_roce.queue_pairs, kFirstQueuePairs);
  EXPECT_LE(result.traffic.background_roce.queue_pairs, kFlows);
  EXPECT_TRUE(result.traffic.background_roce.balanced());
}

TEST(RoceBackground, TwoLongFlowsShareTheLinkFairly) {
  const Mempool pool = make_test_pool(20'000);
  const Dumbbell d = dumbbell(2);
  Simulation simulation(switches_by_dscp(d), background_alone(d), *pool);
  simulation.run_until(Time{} + 300ms);
  const RunResult r = simulation.result();
  std::vector<FlowReport> flows = r.traffic.flows;
  std::erase_if(flows,
                [](const FlowReport& f) { return f.traffic_class != TrafficClass::kBackground; });
  ASSERT_EQ(flows.size(), 2U);
  const double a = static_cast<double>(flows[0].delivered_bytes);
  const double b = static_cast<double>(flows[1].delivered_bytes);
  EXPECT_GT(std::min(a, b) / std::max(a, b), 0.85);
  const double bits = (a + b) * 8 / 0.3;
  EXPECT_GT(bits, 0.85 * 1e10 * kPathMtu / (kPathMtu + kAroundPayloadBytes));
  for (const auto& flow : flows) {
    EXPECT_GT(flow.cnps_received, 10U);
    EXPECT_EQ(flow.ece_reductions, 0U) << "nothing of TCP's";
    EXPECT_EQ(flow.retransmitted, 0U);
  }
  EXPECT_TRUE(r.traffic.ledger_balanced);
}

TEST(RoceBackground, LossAndDuplicatesDeliverEveryByte) {
  const Mempool pool = make_test_pool(20'000);
  Dumbbell d = dumbbell(2);
  RoceConfig roce;
  roce.timeout = 1ms;
  roce.retry_limit = 100;
  FlowsConfig flows = arriving(distribution_of_one_size(100'000));
  flows.max_flows = 200;
  flows.load = 0.05;
  GeneratorConfig g = with_flows(background_alone(d, roce), flows);
  ImpairedSimulation simulation(switches_by_dscp(d), g, *pool);
  simulation.impair_all({.loss = 0.01, .duplicate = 0.01, .reorder = 0.01, .ce = 0.02}, 1);
  simulation.run_until(Time{} + 2s);
  const RunResult result = simulation.result();
  const FlowGroupReport& r = result.traffic.flow_groups.at(0);
  expect_identities(r);
  EXPECT_EQ(r.completed, 200U);
  EXPECT_EQ(r.delivered_bytes, 200U * 100'000);
  EXPECT_GT(r.retransmitted, 100U);
  std::uint64_t of_records = 0;
  for (const auto& f : r.records) of_records += f.retransmitted;
  EXPECT_EQ(of_records, r.retransmitted) << "each packet is that of one flow";
  EXPECT_GT(result.traffic.background_roce.duplicate, 0U);
  EXPECT_TRUE(result.traffic.background_roce.balanced());
  EXPECT_TRUE(result.traffic.ledger_balanced);
  EXPECT_TRUE(simulation.ledger().balanced());
  simulation.flush();
}

// While the path is dead queue pairs give up: flows fail, and a long flow waits. Both go on.
TEST(RoceBackground, QueuePairsThatGaveUpAreUsedAgain) {
  const Mempool pool = make_test_pool(20'000);
  const Dumbbell d = dumbbell(2);
  RoceConfig roce;
  roce.timeout = 1ms;
  roce.retry_limit = 2;
  FlowsConfig flows = arriving(distribution_of_one_size(100'000));
  flows.from = {"b1"};
  flows.to = {"c1"};
  flows.queue_pairs = 1;
  flows.load = 0.05;
  flows.duration = 1500ms;
  GeneratorConfig g = background_alone(d, roce);
  g.long_flows[0].from = {"b0"};
  g.long_flows[0].to = {"c0"};
  g.flows = {flows};
  ImpairedSimulation simulation(switches_by_dscp(d), g, *pool);
  bool dead = false;
  for (const char* host : {"b0", "b1"})
    simulation.from(host).set_rule([&dead](const SeenPacket&) { return Fate{.drop = dead}; });
  const auto delivered = [&simulation] {
    const RunResult r = simulation.result();
    return std::pair(r.traffic.flows.back().delivered_bytes, r.traffic.flow_groups.at(0).completed);
  };
  simulation.run_until(Time{} + 100ms);
  const auto before = delivered();
  EXPECT_GT(before.first, 0U);
  dead = true;
  simulation.run_until(Time{} + 200ms);
  dead = false;
  simulation.run_until(Time{} + 250ms);
  const auto middle = delivered();
  EXPECT_GT(middle.second, before.second) << "the next flow takes the queue pair";
  simulation.run_until(Time{} + 2s);
  const auto after = delivered();
  EXPECT_GT(after.first, middle.first + 100'000'000) << "a second later the long flow goes on";
  const RunResult result = simulation.result();
  const FlowGroupReport& r = result.traffic.flow_groups.at(0);
  expect_identities(r);
  EXPECT_GT(r.failed, 0U);
  EXPECT_EQ(r.open, 0U);
  EXPECT_LT(r.delivered_bytes, r.completed * 100'000 + r.failed * 100'000);
  EXPECT_GE(r.delivered_bytes, r.completed * 100'000);
  EXPECT_TRUE(result.traffic.ledger_balanced);
  EXPECT_TRUE(simulation.ledger().balanced());
  simulation.flush();
}

/// Bursts over RoCEv2, which are announced, beside two long flows over it.
class RegulatedRoceBackground : public ::testing::Test {
 protected:
  static Dumbbell scene(RegulationMode mode) {
    Dumbbell d = dumbbell(2);
    d.bottleneck_port.marker.red = {.kmin_packets = 100, .kmax_packets = 400, .pmax = 0.1};
    d.bottleneck_port.regulation.mode = mode;
    d.bottleneck_port.regulation.recovery = Recovery::kBurstEnd;
    d.bottleneck_port.regulation.idle_end = 1ms;
    d.bottleneck_port.regulation.expiry = 20ms;
    d.job.schedule = Schedule::kFixed;
    d.job.first_due = 30ms;
    d.job.period = 30ms;
    d.job.compute.reset();
    d.job.iterations = 8;
    d.job.announce.lead_source = LeadSource::kOverlap;
    d.job.announce.lead = 200us;
    d.job.announce.signal_form = SignalForm::kUdp;
    d.job.announce.threshold_packets = 10;
    return d;
  }
  RunResult run_of(const Dumbbell& d, const SwitchProcessConfig& c) {
    GeneratorConfig g = traffic_over_roce(d);
    g.long_flows[0].start_spread = {};
    return run(c, g, *pool_, Time{} + 2s);
  }
  static double mean_push_ms(const RunResult& r) {
    std::vector<double> took;
    for (const auto& b : bursts_of(r, BurstDirection::kPush))
      took.push_back(static_cast<double>(b.delivered_ns - b.released_ns) / 1e6);
    return mean(took);
  }

  Mempool pool_ = make_test_pool(20'000);
};

TEST_F(RegulatedRoceBackground, MarksReachBackgroundAlone) {
  const Dumbbell off = scene(RegulationMode::kOff), on = scene(RegulationMode::kMark);
  const RunResult without = run_of(off, switches_by_dscp(off));
  const RunResult with = run_of(on, switches_by_dscp(on));
  const auto& marks = bottleneck_of(with).marks;
  EXPECT_GT(marks[TrafficClass::kBackground][MarkReason::kRegulatedThreshold], 100U);
  EXPECT_EQ(marks[TrafficClass::kDdl][MarkReason::kRegulatedThreshold], 0U);
  EXPECT_LT(mean_push_ms(with), 0.9 * mean_push_ms(without));
}

TEST_F(RegulatedRoceBackground, PaceHoldsBackgroundAlone) {
  const Dumbbell off = scene(RegulationMode::kOff), on = scene(RegulationMode::kPace);
  const RunResult without = run_of(off, switches_by_dscp(off));
  const RunResult with = run_of(on, switches_by_dscp(on));
  EXPECT_GT(bottleneck_of(with).pace.held, 100U);
  EXPECT_LT(mean_push_ms(with), 0.9 * mean_push_ms(without));
  EXPECT_EQ(bottleneck_of(with).recovered_burst_end, 16U) << "START says the bytes";
}

// Goal: the job gives its STARTs the bursts' DSCP. Method: background over RoCEv2 shares the
// bursts' queue, by DSCP. Packets with DSCP 0, as STARTs without it had, use the other one.
TEST_F(RegulatedRoceBackground, AStartIsHeardByTheQueueOfItsBurst) {
  const Dumbbell d = scene(RegulationMode::kPace);
  SwitchProcessConfig c = switches_by_dscp(d);
  for (auto& sw : c.switches) {
    for (auto& port : sw.ports) port.queues.assign(2, {port.queue, port.marker, port.regulation});
    sw.classes.ddl_queue = 0;
    sw.classes.background_queue = 1;
    sw.classes.dscp[std::to_string(kBackgroundDscp)] = ConfigValue(std::int64_t{0});
  }
  const RunResult r = run_of(d, c);
  EXPECT_GT(bottleneck_of(r).pace.held, 100U);
}

// A START names the flow of the burst: its addresses and the number of its queue pair.
TEST_F(RegulatedRoceBackground, AFlowThatAStartNamedIsTheBurst) {
  Dumbbell d = scene(RegulationMode::kPace);
  d.job.announce.threshold_packets = 10;
  SwitchProcessConfig c = d.switches();
  for (auto& sw : c.switches) sw.classes.learned_flows = 64;
  const RunResult r = run_of(d, c);
  const QueueReport& q = bottleneck_of(r);
  EXPECT_GT(q.pace.held, 100U);
  std::uint64_t burst_bytes = 0;
  for (const auto& b : bursts_of(r, BurstDirection::kPush)) burst_bytes += b.delivered_bytes;
  EXPECT_GT(q.transmitted[TrafficClass::kDdl], burst_bytes / kPathMtu) << "all of every burst";
  EXPECT_LT(q.transmitted[TrafficClass::kDdl], 1.1 * static_cast<double>(burst_bytes) / kPathMtu);
}

// Both in one lossless class: pauses stop background too, and nothing is lost or sent again.
TEST(RoceBackground, PausesStopItsPriority) {
  const Mempool pool = make_test_pool(20'000);
  Dumbbell d = dumbbell(4);
  d.bottleneck_port.queue.limit_packets = 2000;
  d.bottleneck_port.marker.kind = MarkerKind::kTailDrop;
  RoceConfig fixed{.controller = RoceController::kFixed, .timeout = 20ms};
  GeneratorConfig g = background_alone(d, fixed);
  SwitchProcessConfig c = switches_by_dscp(d);
  for (auto& sw : c.switches)
    for (auto& port : sw.ports)
      port.queue.lossless = {.xoff_bytes = 50'000, .xon_bytes = 25'000, .headroom_bytes = 30'000};
  const auto run_with = [&](std::optional<std::uint8_t> priority) {
    g.transports[1].tcp.priority = priority;
    Simulation simulation(c, g, *pool);
    simulation.run_until(Time{} + 50ms);
    return simulation.result();
  };
  const RunResult paused = run_with(3);
  EXPECT_GT(paused.traffic.paused_ns, 0U);
  EXPECT_EQ(paused.traffic.background_roce.retransmitted, 0U);
  EXPECT_TRUE(paused.traffic.ledger_balanced);
  EXPECT_GT(run_with(5).traffic.background_roce.retransmitted, 0U) << "another priority";
}

// A request is a message and its answer another: one round trip over an empty path, as over TCP.
// The queue pairs go on after a silence of the path.
TEST(RoceRequests, AreAnsweredInARoundTripAndGoOnAfterADeadPath) {
  const Dumbbell d = dumbbell(1);
  RoceConfig background;
  background.timeout = 5ms;
  GeneratorConfig g = background_alone(d, background);
  g.long_flows.clear();
  g.requests = {{.name = "ask",
                 .from = {"b0"},
                 .to = {"c0"},
                 .connections = 5,
                 .transport = "background",
                 .request_bytes = 2'000,
                 .response_bytes = 30'000}};
  g.requests[0].think = 1ms;
  g.requests[0].think_time = ThinkTime::kFixed;
  const auto pool = make_test_pool(40'000);
  ImpairedSimulation simulation(switches_by_dscp(d), g, *pool);
  const auto only = [&simulation] {
    const RunResult result = simulation.result();
    EXPECT_TRUE(result.traffic.ledger_balanced);
    EXPECT_EQ(result.traffic.background_roce.queue_pairs, 5U);
    return result.traffic.requests.at(0);
  };
  simulation.run_until(Time{500ms});
  const RequestReport before = only();
  EXPECT_EQ(before.open, 5U);
  EXPECT_EQ(before.out_of_ports, 0U);
  const double period_ns = 1e6 + before.latency_ns.mean();
  EXPECT_NEAR(static_cast<double>(before.completed), 5 * 500e6 / period_ns, 5 * 3);
  simulation.to("c0").set_rule([](const SeenPacket&) { return Fate{.drop = true}; });
  simulation.run_until(Time{1s});
  EXPECT_EQ(only().closed, 5U) << "gave up";
  simulation.to("c0").set_rule({});
  simulation.run_until(Time{3s});
  const RequestReport after = only();
  EXPECT_EQ(after.open, 5U);
  EXPECT_EQ(after.opened, after.open + after.closed);
  EXPECT_GT(after.completed, before.completed + 1'000);
}

}  // namespace
}  // namespace outrider::roce_background_test
