// Goal: far from the network in which windows were tuned, a lead that switches measure and tell
// brings bursts nearer to an empty network than a START with the burst does, and nobody can move
// START beyond the bound. Method: whole runs of 1 Gbit/s, 0.65 ms and nine flows, whose windows
// take about five round trips to drain; arms share seeds.
#include <gtest/gtest.h>

#include <algorithm>

#include "switch/report/report_json.h"
#include "tests/virtual/regulation_effect.h"
#include "trafficgen/report/report_json.h"

namespace outrider::told_lead_effect_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::microseconds;

constexpr std::uint32_t kFlows = 9;
constexpr std::uint32_t kBursts = 6;

Dumbbell far_away() {
  Dumbbell d;
  d.bottleneck = BitRate{1'000'000'000};
  d.host_rate = BitRate{4'000'000'000};
  d.rtt = microseconds(650);
  d.background_flows = kFlows;
  d.bottleneck_port.queue.limit_packets = 240;
  d.bottleneck_port.marker.threshold_packets = 150;
  d.bottleneck_port.regulation.mode = RegulationMode::kWindow;
  d.bottleneck_port.regulation.recovery = Recovery::kBurstEnd;
  for (tg::TcpConfig* tcp : {&d.ddl_tcp, &d.background_tcp}) {
    tcp->min_rto =
        milliseconds(10);  // the first burst may lose something, and must end in its period
    tcp->delayed_ack = milliseconds(2);
  }
  d.job.burst_bytes = 800'000;
  d.job.iterations = kBursts;
  d.job.first_due = milliseconds(500);
  d.job.period = milliseconds(100);
  d.job.announce.signal_form = SignalForm::kUdp;
  d.job.announce.lead_source = LeadSource::kOverlap;
  d.job.announce.lead = Duration::zero();
  d.job.announce.threshold_packets = 35;
  return d;
}

/// The switch measures the lead, and the worker follows it from nothing to `limit`.
Dumbbell told(Duration limit) {
  Dumbbell d = far_away();
  d.bottleneck_port.regulation.lead = OrAuto<Duration>{};
  d.job.announce.lead_limit = limit;
  return d;
}

class ToldLeadEffect : public testing::Test {
 protected:
  RunResult run_of(Dumbbell d, std::uint64_t seed = 1) {
    d.seed = seed;
    EXPECT_TRUE(validate(d.switches()).empty());
    EXPECT_TRUE(validate(d.traffic()).empty());
    return run(d, *pool_);
  }
  /// Returns the median time of all bursts but the first of each run [ms].
  double median_ms(const Dumbbell& d) {
    std::vector<double> times;
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
      for (const auto& b : run_of(d, seed).traffic.bursts)
        if (b.identity.iteration > 0)
          times.push_back(static_cast<double>(b.delivered_ns - b.due_ns) / 1e6);
    EXPECT_EQ(times.size(), 3 * (kBursts - 1));
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
    return times[times.size() / 2];
  }
  /// Returns how long before its burst was due each START has left.
  static std::vector<Duration> leads_of(const RunResult& r) {
    std::vector<Duration> leads;
    for (const auto& b : r.traffic.bursts) leads.emplace_back(b.due_ns - b.start_sent_ns);
    return leads;
  }
  Mempool pool_ = make_test_pool();
};

TEST_F(ToldLeadEffect, BringsBurstsNearerToAnEmptyNetworkThanNoLead) {
  Dumbbell empty = far_away();
  empty.background_flows = 0;
  const double alone = median_ms(empty);
  const double none = median_ms(far_away()) / alone;
  const double with_told = median_ms(told(milliseconds(50))) / alone;
  RecordProperty("none", std::to_string(none));
  RecordProperty("told", std::to_string(with_told));
  EXPECT_GT(none, 1.3);
  EXPECT_LT(with_told, 0.95 * none) << "the first burst, without a lead, leaves its sender slow";
}

TEST_F(ToldLeadEffect, IsFollowedFromTheSecondStartOn) {
  const RunResult r = run_of(told(milliseconds(50)));
  const auto leads = leads_of(r);
  ASSERT_EQ(leads.size(), kBursts);
  EXPECT_EQ(leads[0], Duration::zero()) << "nobody has told one yet";
  for (std::size_t i = 1; i < leads.size(); ++i) {
    EXPECT_GT(leads[i], microseconds(2 * 650)) << i;
    EXPECT_LT(leads[i], microseconds(12 * 650)) << i;
  }
  EXPECT_EQ(bottleneck_of(r).window.leads_told, kBursts);
  EXPECT_EQ(bottleneck_of(r).window.starts_beyond_lead, 0U);
}

TEST_F(ToldLeadEffect, StaysWithinItsBounds) {
  const auto low = leads_of(run_of(told(microseconds(700))));
  for (std::size_t i = 1; i < low.size(); ++i) EXPECT_EQ(low[i], microseconds(700)) << i;
  Dumbbell d = told(milliseconds(50));
  d.job.announce.lead = milliseconds(20);
  for (const Duration lead : leads_of(run_of(d))) EXPECT_EQ(lead, milliseconds(20));
}

TEST_F(ToldLeadEffect, IsIgnoredUnlessAskedFor) {
  Dumbbell d = told(milliseconds(50));
  d.job.announce.lead_limit.reset();
  const RunResult r = run_of(d);
  EXPECT_EQ(bottleneck_of(r).window.leads_told, kBursts);
  for (const Duration lead : leads_of(r)) EXPECT_EQ(lead, Duration::zero());
}

TEST_F(ToldLeadEffect, IsTheSameInEveryRun) {
  const auto text_of = [](const RunResult& r) { return to_json(r.switches) + to_json(r.traffic); };
  const Dumbbell d = told(milliseconds(50));
  EXPECT_EQ(text_of(run_of(d, 3)), text_of(run_of(d, 3)));
}

// Two held segments of each flow are more than a sixth of what path and queue hold.
TEST_F(ToldLeadEffect, SaysWhereNoLeadIsEnough) {
  Dumbbell d = told(milliseconds(50));
  d.bottleneck_port.marker.threshold_packets = 40;
  EXPECT_GT(bottleneck_of(run_of(d)).window.starts_beyond_lead, 0U);
}

}  // namespace
}  // namespace outrider::told_lead_effect_test
