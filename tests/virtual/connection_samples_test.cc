// Goal: with `connection_sample_period` the state of every sending connection is noted at fixed
// times, over each transport with what it has, until as many samples are kept as may be; without it
// nothing is. Method: transfers, long flows and bursts over a dumbbell in virtual time.
#include <gtest/gtest.h>

#include <map>

#include "tests/support/simulation.h"
#include "tests/virtual/mlt_scene.h"
#include "tests/virtual/roce_scene.h"

namespace outrider::connection_samples_test {
using namespace tg;
using namespace lab;
namespace {

using namespace std::chrono_literals;

GeneratorReport run(std::optional<Duration> period, std::uint32_t max_samples) {
  const Dumbbell d;
  GeneratorConfig c = d.traffic();
  c.jobs.clear();
  c.long_flows.clear();
  c.transfers = {{.name = "t",
                  .from = c.hosts.front().name,
                  .to = c.hosts.back().name,
                  .bytes = 3'000'000,
                  .transport = c.transports.front().name,
                  .timeout = 60s}};
  c.connection_sample_period = period;
  c.max_connection_samples = max_samples;
  const Mempool pool = make_test_pool();
  ImpairedSimulation simulation(d.switches(), c, *pool);
  simulation.impair_all({.loss = 0.01}, 7);
  EXPECT_TRUE(simulation.run_to_end(Time{60s}));
  return simulation.result().traffic;
}

TEST(ConnectionSamples, FollowTheSender) {
  const GeneratorReport r = run(1ms, 100'000);
  ASSERT_GT(r.connections.size(), 100U);
  const ConnectionSample* before = nullptr;
  for (const ConnectionSample& s : r.connections) {
    EXPECT_EQ(s.host, "w0") << "the receiver has nothing to send";
    EXPECT_EQ(s.peer, "s0");
    EXPECT_EQ(s.transport, "tcp");
    EXPECT_GE(s.cwnd_bytes, s.mss_bytes);
    EXPECT_TRUE(s.alpha && *s.alpha > 0 && *s.alpha <= 1) << "DCTCP has one";
    EXPECT_FALSE(s.rate_bits_per_second || s.target_bits_per_second || s.cnps_received);
    if (before != nullptr) {
      EXPECT_EQ(s.at_ns - before->at_ns, 1'000'000);
      EXPECT_GE(s.acked_bytes, before->acked_bytes);
      EXPECT_GE(s.retransmitted, before->retransmitted);
    }
    before = &s;
  }
  const ConnectionSample& first = r.connections.front();
  EXPECT_EQ(first.retransmitted, 0U);
  EXPECT_GT(first.ssthresh_bytes, before->ssthresh_bytes) << "losses set it";
  EXPECT_GT(before->retransmitted, 0U);
  EXPECT_GT(before->srtt_ns, 0);
  EXPECT_GT(before->acked_bytes, 2'000'000U);
}

TEST(ConnectionSamples, HaveThePaceOfAPacedSenderAndNoAlphaOfCubic) {
  Dumbbell d;
  d.background_flows = 1;
  d.background_tcp.control.controller = Controller::kCubic;
  d.background_tcp.pacing = true;
  GeneratorConfig c = d.traffic();
  c.jobs.clear();
  c.connection_sample_period = 10ms;
  const Mempool pool = make_test_pool();
  Simulation simulation(d.switches(), c, *pool);
  simulation.run_until(Time{} + 2s);
  const RunResult r = simulation.result();
  ASSERT_GT(r.traffic.connections.size(), 50U);
  EXPECT_GT(r.traffic.connections.back().rate_bits_per_second, 100'000'000U);
  for (const ConnectionSample& s : r.traffic.connections) EXPECT_FALSE(s.alpha);
}

/// Two queue pairs share 10 Gbit/s, of which the second begins 10 ms after the first.
RunResult run_two_queue_pairs(std::optional<Duration> period) {
  Dumbbell d = roce_dumbbell(1, 1'000'000);
  d.background_flows = 2;
  GeneratorConfig g = roce_traffic(d);
  g.jobs.clear();
  g.transports[1] = g.transports[0];
  g.transports[1].name = "background";
  LongFlowsConfig second = g.long_flows.at(0);
  g.long_flows[0].start_spread = second.start_spread = {};
  g.long_flows[0].from = {"b0"};
  g.long_flows[0].to = {"c0"};
  second.name += "-2";
  second.from = {"b1"};
  second.to = {"c1"};
  second.start = g.long_flows[0].start + 10ms;
  g.long_flows.push_back(second);
  g.connection_sample_period = period;
  const Mempool pool = make_test_pool(20'000);
  Simulation simulation(roce_switches(d), g, *pool);
  simulation.run_until(Time{} + 200ms);
  return simulation.result();
}

TEST(ConnectionSamples, ShowHowDcqcnConverges) {
  const RunResult r = run_two_queue_pairs(1ms);
  std::map<std::string, std::map<std::int64_t, const ConnectionSample*>> by_host;
  for (const ConnectionSample& s : r.traffic.connections) {
    EXPECT_EQ(s.transport, "roce");
    EXPECT_EQ(s.destination_port, 4791);
    EXPECT_EQ(s.mss_bytes, 1024U);
    ASSERT_TRUE(s.rate_bits_per_second && s.target_bits_per_second && s.cnps_received);
    EXPECT_LE(*s.rate_bits_per_second, *s.target_bits_per_second);
    EXPECT_LE(*s.target_bits_per_second, 10'000'000'000U);
    EXPECT_EQ(s.alpha.has_value(), *s.cnps_received > 0) << "alpha begins with the first CNP";
    EXPECT_FALSE(s.cwnd_bytes || s.ssthresh_bytes || s.srtt_ns || s.ece_reductions);
    by_host[s.host][s.at_ns] = &s;
  }
  ASSERT_EQ(by_host.size(), 2U) << "those that receive have nothing to send";
  const auto& first = by_host.at("b0");
  const auto& second = by_host.at("b1");
  EXPECT_EQ(first.begin()->second->peer, "c0");
  EXPECT_EQ(second.begin()->first - first.begin()->first, 10'000'000);
  EXPECT_EQ(first.begin()->second->rate_bits_per_second, 10'000'000'000U) << "alone on the link";
  EXPECT_GT(first.rbegin()->second->in_flight_bytes, 0U);
  // From 150 ms on each has about half of the link.
  double sums[2] = {0, 0};
  for (const auto& [at_ns, s] : first) {
    if (at_ns < 150'000'000) continue;
    sums[0] += static_cast<double>(*s->rate_bits_per_second);
    sums[1] += static_cast<double>(*second.at(at_ns)->rate_bits_per_second);
  }
  EXPECT_NEAR(sums[0] / (sums[0] + sums[1]), 0.5, 0.1);
  EXPECT_NEAR((sums[0] + sums[1]) / 50, 10e9, 1e9);
}

TEST(ConnectionSamples, ChangeNothingInARun) {
  const RunResult sampled = run_two_queue_pairs(100us), left = run_two_queue_pairs(std::nullopt);
  ASSERT_FALSE(sampled.traffic.connections.empty());
  ASSERT_EQ(sampled.traffic.flows.size(), left.traffic.flows.size());
  for (std::size_t i = 0; i < left.traffic.flows.size(); ++i)
    EXPECT_EQ(sampled.traffic.flows[i].delivered_bytes, left.traffic.flows[i].delivered_bytes);
  EXPECT_EQ(sampled.traffic.background_roce, left.traffic.background_roce);
}

TEST(ConnectionSamples, HaveTheWindowOfTheBoundedLossTransport) {
  const Dumbbell d = mlt_dumbbell(1);
  GeneratorConfig g = mlt_traffic(d, {});
  g.long_flows.clear();
  g.connection_sample_period = 1ms;
  const Mempool pool = make_test_pool();
  Simulation simulation(mlt_switches(d), g, *pool);
  simulation.run_until(Time{} + 200ms);
  const RunResult r = simulation.result();
  ASSERT_FALSE(r.traffic.connections.empty());
  for (const ConnectionSample& s : r.traffic.connections) {
    EXPECT_EQ(s.transport, "mlt");
    EXPECT_GE(s.cwnd_bytes, s.mss_bytes);
    EXPECT_TRUE(s.alpha.has_value());
    EXPECT_FALSE(s.rate_bits_per_second || s.acked_bytes || s.cnps_received);
  }
}

TEST(ConnectionSamples, AreBounded) { EXPECT_EQ(run(1ms, 20).connections.size(), 20U); }

TEST(ConnectionSamples, AreNotTakenUnasked) {
  EXPECT_TRUE(run(std::nullopt, 20).connections.empty());
}

}  // namespace
}  // namespace outrider::connection_samples_test
