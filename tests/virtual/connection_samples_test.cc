// Goal: with `connection_sample_period` the window of every sending connection is noted at fixed
// times, until as many samples are kept as may be; without it nothing is. Method: transfers over a
// dumbbell in virtual time.
#include <gtest/gtest.h>

#include "tests/support/simulation.h"

namespace outrider::connection_samples_test {
using namespace tg;
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
    EXPECT_EQ(s.host, r.connections.front().host) << "the receiver has nothing to send";
    EXPECT_GE(s.cwnd_bytes, s.mss_bytes);
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

TEST(ConnectionSamples, AreBounded) { EXPECT_EQ(run(1ms, 20).connections.size(), 20U); }

TEST(ConnectionSamples, AreNotTakenUnasked) {
  EXPECT_TRUE(run(std::nullopt, 20).connections.empty());
}

}  // namespace
}  // namespace outrider::connection_samples_test
