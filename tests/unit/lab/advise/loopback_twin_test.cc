// Goal: what two processes can carry of a cluster has as many packets in a round trip and in the
// queue, and spends the same share of its time on bursts. Method: clusters worked out by hand.
#include "tools/lab/advise/loopback_twin.h"

#include <gtest/gtest.h>

#include "tests/support/source_path.h"
#include "trafficgen/workload/config/model_profile.h"

namespace outrider::loopback_twin_test {
using namespace lab;
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

Cluster with_bursts() {
  Cluster c;
  c.network = {.rate = BitRate{10'000'000'000}, .rtt = microseconds(120), .buffer_bytes = 300'000};
  c.jobs = {{.workers = 4, .burst_bytes = 1'000'000, .period = milliseconds(20)}};
  c.background.long_flows = 3;
  return c;
}

TEST(LoopbackTwin, IsSlowerByOneFactor) {
  const Cluster c = with_bursts();
  const LoopbackTwin twin = loopback_twin(c);
  EXPECT_EQ(twin.slower, 100);
  EXPECT_EQ(*twin.cluster.network.rate, (BitRate{100'000'000}));
  EXPECT_EQ(*twin.cluster.network.rtt, milliseconds(12));
  EXPECT_EQ(mark_at(twin.cluster), mark_at(c));
  EXPECT_EQ(twin.smaller_bursts, 1) << "4 MB at 100 Mbit/s take 0.32 s";
  EXPECT_EQ(*twin.cluster.jobs.front().period, milliseconds(2000));
  EXPECT_TRUE(validate(twin.cluster).empty());
}

TEST(LoopbackTwin, HasBurstsOfHalfASecondAtMost) {
  Cluster c = with_bursts();
  c.jobs.front().burst_bytes = 25'000'000;  // all 8 s at 100 Mbit/s
  const LoopbackTwin twin = loopback_twin(c);
  EXPECT_NEAR(twin.smaller_bursts, 1.0 / 16, 1e-9);
  EXPECT_EQ(twin.cluster.jobs.front().burst_bytes, 1'562'500U);
  EXPECT_EQ(*twin.cluster.jobs.front().period, milliseconds(125));
}

TEST(LoopbackTwin, OfASlowClusterIsTheClusterItself) {
  Cluster c = with_bursts();
  c.network.rate = BitRate{50'000'000};
  c.jobs.front().burst_bytes = 10'000;
  const LoopbackTwin twin = loopback_twin(c);
  EXPECT_EQ(twin.slower, 1);
  EXPECT_EQ(*twin.cluster.network.rtt, microseconds(120));
  EXPECT_EQ(*twin.cluster.jobs.front().period, milliseconds(20));
}

TEST(LoopbackTwin, OfAModelComputesTheSameShare) {
  Cluster c = with_bursts();
  ClusterJob& job = c.jobs.front();
  job.model = source_path("conf/models/resnet50.toml");
  job.burst_bytes.reset();
  job.period.reset();
  const auto model = *tg::load_model_profile(job.model).config;
  const double compute = seconds(*model.forward + *model.backward);
  const double bursts = 8.0 * 4 * static_cast<double>(model.total_bytes) / 10e9;

  const LoopbackTwin twin = loopback_twin(c);
  ASSERT_EQ(twin.parameters.back().first, "compute_seconds");
  const double twins_compute = *twin.parameters.back().second.as<double>();
  EXPECT_NEAR(twins_compute / 0.5, compute / bursts, 1e-6);
  EXPECT_NEAR(8.0 * 4 * static_cast<double>(*twin.cluster.jobs.front().burst_bytes) / 100e6, 0.5,
              1e-5);
  EXPECT_TRUE(twin.cluster.jobs.front().model.empty());
}

TEST(LoopbackTwin, IsNotThereForFabricsListsAndCaptures) {
  Cluster c = with_bursts();
  EXPECT_EQ(no_twin_because(c), "");
  c.background.list = "flows.csv";
  EXPECT_NE(no_twin_because(c), "");
  c = with_bursts();
  c.background.capture = "link.pcap";
  EXPECT_NE(no_twin_because(c), "");
  c = with_bursts();
  c.fabric["kind"] = ConfigValue(std::string("fat_tree"));
  EXPECT_NE(no_twin_because(c), "");
}

}  // namespace
}  // namespace outrider::loopback_twin_test
