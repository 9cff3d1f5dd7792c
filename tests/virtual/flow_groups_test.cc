// Goal: flows start at the configured load, all bytes arrive, and their report is exact.
// Method: virtual time over a dumbbell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "tests/support/simulation.h"
#include "tests/support/source_path.h"
#include "trafficgen/channel/tcp_ideal_times.h"

namespace outrider::flow_groups_test {
using namespace tg;
using namespace lab;
namespace {

using namespace std::chrono_literals;

/// Returns a dumbbell of 1 Gbit/s and 100 us with hosts b0.., c0.. and no burst during the test.
Dumbbell hosts_only(std::uint32_t pairs) {
  Dumbbell d;
  d.background_flows = pairs;
  d.bottleneck = BitRate{1'000'000'000};
  d.rtt = 100us;
  d.bottleneck_port.queue.limit_packets = 2000;
  d.background_tcp.min_rto = 10ms;
  d.background_tcp.initial_rto = 100ms;
  d.background_tcp.delayed_ack = 1ms;
  d.job.iterations = 1;
  d.job.burst_bytes = 1000;
  d.job.first_due = 1000s;
  d.job.announce.lead_source = LeadSource::kNone;
  return d;
}

GeneratorConfig traffic_with(const Dumbbell& d, const FlowsConfig& flows) {
  GeneratorConfig g = d.traffic();
  g.long_flows.clear();
  g.flows = {flows};
  return g;
}

FlowsConfig mice(const std::string& sizes) {
  FlowsConfig c;
  c.name = "mice";
  c.from = {"b0", "b1"};
  c.to = {"c0", "c1"};
  c.distribution = source_path("conf/distributions/") + sizes;
  c.load = 0.3;
  c.transport = "background";
  c.records = 100'000;
  return c;
}

std::uint64_t counted(const FlowGroupReport& r) {
  std::uint64_t n = 0;
  for (const auto& c : r.classes) n += c.completion_ns.count();
  return n;
}

void expect_identities(const FlowGroupReport& r) {
  EXPECT_EQ(r.arrivals, r.refused + r.completed + r.failed + r.open);
  EXPECT_EQ(r.completed, counted(r));
  EXPECT_LE(r.delivered_bytes, r.arrived_bytes);
}

TEST(FlowGroups, OfferTheLoadAndCompleteEveryFlow) {
  const Mempool pool = make_test_pool();
  const Dumbbell d = hosts_only(2);
  FlowsConfig flows = mice("hadoop.cdf");
  flows.load = 0.2;
  flows.duration = 2s;
  Simulation simulation(d.switches(), traffic_with(d, flows), *pool);
  simulation.run_until(Time{} + 4s);
  const FlowGroupReport r = simulation.result().traffic.flow_groups.at(0);
  expect_identities(r);
  EXPECT_EQ(r.open, 0U);
  EXPECT_EQ(r.failed, 0U);
  EXPECT_EQ(r.refused, 0U);
  EXPECT_EQ(r.delivered_bytes, r.arrived_bytes);
  const double asked = static_cast<double>(r.offered_bps) / 8 * 2;
  EXPECT_NEAR(asked, 0.2 * 2e9 / 8 * 2 * 1448 / 1526, 1000) << "two receivers, 2 s";
  EXPECT_NEAR(static_cast<double>(r.arrived_bytes), asked, 0.25 * asked) << "a heavy tail";
  EXPECT_GT(r.arrivals, 500U);
  ASSERT_EQ(r.records.size(), r.completed);
  std::uint64_t slower = 0;
  for (const auto& f : r.records) {
    EXPECT_GT(f.delivered_ns, f.established_ns);
    EXPECT_GT(f.established_ns, f.arrival_ns);
    EXPECT_GE(f.slowdown_milli, 1000U) << f.bytes << " B, faster than on an empty network";
    if (f.slowdown_milli > 2000) ++slower;
  }
  EXPECT_GT(slower, 0U) << "flows do meet each other";
}

// A flow alone takes its ideal time: SYN, SYN-ACK, then a window of data.
TEST(FlowGroups, AFlowAloneTakesItsIdeal) {
  const Mempool pool = make_test_pool();
  const Dumbbell d = hosts_only(2);
  GeneratorConfig g = traffic_with(d, mice("hadoop.cdf"));
  g.send_jitter = 0;
  FlowsConfig& flows = g.flows[0];
  const std::string path = ::testing::TempDir() + "one-size.cdf";
  { std::ofstream(path) << "10000 1\n"; }
  flows.distribution = path;
  flows.load.reset();
  flows.rate = BitRate{8'000'000};  // a flow every 10 ms
  flows.arrivals = ArrivalProcess::kFixed;
  flows.max_flows = 50;
  Simulation simulation(d.switches(), g, *pool);
  simulation.run_until(Time{} + 2s);
  const FlowGroupReport r = simulation.result().traffic.flow_groups.at(0);
  expect_identities(r);
  ASSERT_EQ(r.completed, 50U);
  // 7 segments at 1 Gbit/s. Each of three more hops adds one frame's time. The handshake
  // takes 100 us and four hops of short frames each way.
  const double serial_us = static_cast<double>(wire_bytes_of_stream(10'000, 1448)) * 8 / 1e3;
  for (const auto& f : r.records) {
    const double took_us = static_cast<double>(f.delivered_ns - f.arrival_ns) / 1e3;
    EXPECT_NEAR(took_us, 150 + serial_us + 3 * 12.2, 15) << f.arrival_ns;
    EXPECT_NEAR(static_cast<double>(f.slowdown_milli) / 1e3, took_us / (1.5 * 105 + serial_us),
                0.1);
  }
  EXPECT_EQ(r.classes[0].completion_ns.count(), 50U) << "10,000 B belongs to the first class";
}

// The first handshake of a pair of hosts may wait in a queue that the data no longer meets.
TEST(FlowGroups, NoFlowIsFasterThanItsIdeal) {
  const Mempool pool = make_test_pool();
  Dumbbell d = hosts_only(8);
  d.bottleneck = BitRate{100'000'000};
  d.bottleneck_port.queue.limit_packets = 300;
  FlowsConfig flows = mice("hadoop.cdf");
  flows.from = {"b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7"};
  flows.to = {"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"};
  flows.load.reset();
  flows.rate = BitRate{70'000'000};
  flows.duration = 3s;
  Simulation simulation(d.switches(), traffic_with(d, flows), *pool);
  simulation.run_until(Time{} + 6s);
  const FlowGroupReport r = simulation.result().traffic.flow_groups.at(0);
  EXPECT_GT(r.completed, 150U) << "a few of each of the 64 pairs";
  std::uint64_t slow = 0;
  for (const auto& f : r.records) {
    if (f.delivered_ns < 0) continue;
    EXPECT_GE(f.slowdown_milli, 1000U) << f.from << " to " << f.to << ", " << f.bytes << " B";
    if (f.slowdown_milli > 3000) ++slow;
  }
  EXPECT_GT(slow, 0U) << "queues do fill";
}

TEST(FlowGroups, RefuseBeyondMaxOpenAndRecycle) {
  const Mempool pool = make_test_pool();
  const Dumbbell d = hosts_only(2);
  FlowsConfig flows = mice("web-search.cdf");
  flows.load = 2.0;
  flows.max_open = 5;
  flows.records = 3;
  flows.duration = 500ms;
  Simulation simulation(d.switches(), traffic_with(d, flows), *pool);
  simulation.run_until(Time{} + 250ms);
  const FlowGroupReport busy = simulation.result().traffic.flow_groups.at(0);
  expect_identities(busy);
  EXPECT_LE(busy.open, 5U);
  EXPECT_GT(busy.refused, 10U);
  simulation.run_until(Time{} + 3s);
  const FlowGroupReport r = simulation.result().traffic.flow_groups.at(0);
  expect_identities(r);
  EXPECT_GT(r.completed, 5U) << "places are used again";
  EXPECT_EQ(r.open, 0U);
  EXPECT_EQ(r.records.size(), 3U);
  EXPECT_EQ(r.records_lost, r.completed - 3);
}

// On a dead path handshakes time out, flows fail with a named reason, and nothing stays open.
TEST(FlowGroups, FailByNameWhenThePathIsDead) {
  const Mempool pool = make_test_pool();
  const Dumbbell d = hosts_only(2);
  FlowsConfig flows = mice("hadoop.cdf");
  flows.max_flows = 4;
  ImpairedSimulation simulation(d.switches(), traffic_with(d, flows), *pool);
  for (const char* sender : {"b0", "b1"})
    simulation.from(sender).set_rule([](const SeenPacket&) { return Fate{.drop = true}; });
  simulation.run_until(Time{} + 3600s);
  const FlowGroupReport r = simulation.result().traffic.flow_groups.at(0);
  expect_identities(r);
  EXPECT_EQ(r.failed, 4U);
  EXPECT_EQ(r.delivered_bytes, 0U);
  EXPECT_GT(r.rtos_handshake, 4U);
}

TEST(FlowGroups, AnotherGroupLeavesTheDrawsAlone) {
  const Mempool pool = make_test_pool();
  const Dumbbell d = hosts_only(2);
  FlowsConfig flows = mice("hadoop.cdf");
  flows.duration = 200ms;
  GeneratorConfig alone = traffic_with(d, flows);
  GeneratorConfig both = alone;
  both.flows.push_back(flows);
  both.flows[1].name = "more";
  both.flows[1].tcp_port = 31001;
  const auto records = [&](const GeneratorConfig& g) {
    Simulation simulation(d.switches(), g, *pool);
    simulation.run_until(Time{} + 2s);
    auto r = simulation.result().traffic.flow_groups.at(0).records;
    std::ranges::sort(r, {}, &FlowRecord::arrival_ns);
    return r;
  };
  const auto a = records(alone), b = records(both);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].arrival_ns, b[i].arrival_ns);
    EXPECT_EQ(a[i].bytes, b[i].bytes);
    EXPECT_EQ(a[i].to, b[i].to);
  }
}

// As many flows as a list has at one instant are open at once.
TEST(FlowGroups, AListIsOfferedWholeHoweverManyAreOpen) {
  constexpr std::uint64_t kFlows = 3000;
  const Mempool pool = make_test_pool(40'000);
  Dumbbell d = hosts_only(2);
  d.bottleneck_port.queue.limit_packets = 10'000;
  const std::string path = ::testing::TempDir() + "many.csv";
  {
    std::ofstream list(path);
    list << "start_seconds,from,to,bytes\n";
    for (std::uint64_t i = 0; i < kFlows; ++i) list << "0," << i % 2 << ",2,1000\n";
  }
  FlowsConfig flows;
  flows.name = "list";
  flows.list = path;
  flows.hosts = {"b0", "b1", "c0", "c1"};
  flows.transport = "background";
  Simulation simulation(d.switches(), traffic_with(d, flows), *pool);
  simulation.run_until(Time{} + 1us);
  EXPECT_EQ(simulation.result().traffic.flow_groups.at(0).open, kFlows);
  simulation.run_until(Time{} + 3s);
  const RunResult result = simulation.result();
  const FlowGroupReport& r = result.traffic.flow_groups.at(0);
  expect_identities(r);
  EXPECT_EQ(r.refused, 0U);
  EXPECT_EQ(r.first_refused_ns, -1);
  EXPECT_EQ(r.completed, kFlows);
  EXPECT_EQ(result.traffic.flights_exhausted + result.traffic.disorders_exhausted, 0U);
}

// A pair of hosts has 32,768 ports. What comes beyond them is counted under a name of its own.
TEST(FlowGroups, AFlowWithoutAPortIsNamed) {
  const Mempool pool = make_test_pool();
  const Dumbbell d = hosts_only(2);
  const std::string path = ::testing::TempDir() + "ports.csv";
  {
    std::ofstream list(path);
    list << "start_seconds,from,to,bytes\n";
    for (int i = 0; i < 32'768; ++i) list << "0,0,2,1000\n";
    list << "0.0001,0,2,1000\n0.0001,1,2,1000\n";
  }
  FlowsConfig flows;
  flows.name = "list";
  flows.list = path;
  flows.hosts = {"b0", "b1", "c0", "c1"};
  flows.transport = "background";
  Simulation simulation(d.switches(), traffic_with(d, flows), *pool);
  simulation.run_until(Time{} + 150us);
  const FlowGroupReport r = simulation.result().traffic.flow_groups.at(0);
  expect_identities(r);
  EXPECT_EQ(r.refused, 1U);
  EXPECT_EQ(r.refused_no_port, 1U);
  EXPECT_EQ(r.first_refused_ns, 100'000);
  EXPECT_EQ(not_offered_text(r),
            "1 flows of \"list\" were not offered, the first at 0.0001 s: 1 found every port to "
            "their receiver in use");
  simulation.flush();
}

// A list that goes on after the run lost its later flows without a count.
TEST(FlowGroups, FlowsOfAListThatBeginAfterTheRunAreCounted) {
  const Mempool pool = make_test_pool();
  const Dumbbell d = hosts_only(2);
  const std::string path = ::testing::TempDir() + "long-list.csv";
  {
    std::ofstream list(path);
    list << "start_seconds,from,to,bytes\n0,0,2,1000\n0.001,0,2,1000\n";
    for (int i = 0; i < 5; ++i) list << "1,0,2,1000\n";
  }
  FlowsConfig flows;
  flows.name = "list";
  flows.list = path;
  flows.hosts = {"b0", "b1", "c0", "c1"};
  flows.transport = "background";
  const auto result_of = [&](const FlowsConfig& config) {
    Simulation simulation(d.switches(), traffic_with(d, config), *pool);
    simulation.run_until(Time{} + 10ms);
    FlowGroupReport r = simulation.result().traffic.flow_groups.at(0);
    simulation.flush();
    return r;
  };
  const FlowGroupReport all = result_of(flows);
  expect_identities(all);
  EXPECT_EQ(all.arrivals, 2U);
  EXPECT_EQ(all.refused, 0U);
  EXPECT_EQ(all.after_end, 5U);
  std::ostringstream text;
  print_flow_groups(text, {all}, 10'000'000);
  EXPECT_THAT(text.str(),
              testing::HasSubstr("5 flows of the list would begin after the end of the run"));
  flows.duration = 100ms;
  EXPECT_EQ(result_of(flows).after_end, 0U) << "the file leaves them out itself";
}

TEST(FlowGroups, PlayAnHpccList) {
  const Mempool pool = make_test_pool();
  const Dumbbell d = hosts_only(2);
  const std::string path = ::testing::TempDir() + "flow.txt";
  { std::ofstream(path) << "3\n0 2 3 100 50000 2\n1 3 3 100 1000 2.001\n3 0 3 100 7 2.002\n"; }
  FlowsConfig flows;
  flows.name = "list";
  flows.list = path;
  flows.hosts = {"b0", "b1", "c0", "c1"};
  flows.transport = "background";
  flows.start = 1s;
  flows.records = 10;
  Simulation simulation(d.switches(), traffic_with(d, flows), *pool);
  simulation.run_until(Time{} + 2s);
  const FlowGroupReport r = simulation.result().traffic.flow_groups.at(0);
  expect_identities(r);
  ASSERT_EQ(r.records.size(), 3U);
  EXPECT_EQ(r.records[0].from, "b0");
  EXPECT_EQ(r.records[0].to, "c0");
  EXPECT_EQ(r.records[0].arrival_ns, 1'000'000'000);
  EXPECT_EQ(r.records[1].arrival_ns, 1'001'000'000);
  EXPECT_EQ(r.records[2].from, "c1");
  EXPECT_EQ(r.records[2].bytes, 7U);
  const std::string csv = flow_records_csv({r});
  EXPECT_EQ(std::ranges::count(csv, '\n'), 4);
  EXPECT_NE(csv.find("list,c1,b0,7,1002000000,"), std::string::npos);
}

}  // namespace
}  // namespace outrider::flow_groups_test
