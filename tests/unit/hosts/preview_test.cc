// Goal: the preview shows what a run does. Method: a small schedule by hand, and
// arrivals against the records of the run itself.
#include "trafficgen/apps/preview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/simulation.h"
#include "tests/support/source_path.h"

namespace outrider::preview_test {
using namespace tg;
using namespace lab;
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

GeneratorConfig two_hosts() {
  GeneratorConfig c;
  c.devices = {{.name = "d", .device = "net_null0"}};
  c.hosts = {{.name = "a", .address = "10.0.0.1", .device = "d"},
             {.name = "b", .address = "10.0.0.2", .device = "d"}};
  c.transports = {{"t", {}}};
  return c;
}

TEST(Preview, ListsJobsAndLongFlowsInTheOrderOfTime) {
  GeneratorConfig c = two_hosts();
  JobConfig fixed;
  fixed.name = "fixed";
  fixed.workers = {"a"};
  fixed.servers = {"b"};
  fixed.transport = "t";
  fixed.burst_bytes = 1000;
  fixed.iterations = 100;
  fixed.schedule = Schedule::kFixed;
  fixed.first_due = 5ms;
  fixed.period = 10ms;
  c.jobs = {fixed};
  c.long_flows = {{"bulk", {"b"}, {"a"}, 1, "t", 7ms, 0ms, 20000}};
  c.captures = {{.name = "tape", .from = "b", .to = "a", .file = "t.pcap", .start = 8ms}};
  const Preview p = preview(c, 26ms);
  EXPECT_EQ(p.csv,
            "at_ns,kind,name,from,to,bytes\n"
            "5000000,burst_due,fixed,a,,1000\n"
            "7000000,long_flow_start,bulk,b,a,\n"
            "8000000,capture_start,tape,b,a,\n"
            "15000000,burst_due,fixed,a,,1000\n"
            "25000000,burst_due,fixed,a,,1000\n");
  EXPECT_EQ(p.events, 5U);
  EXPECT_FALSE(p.ends_before_run);
}

TEST(Preview, ArrivalsAreThoseOfTheRun) {
  Dumbbell d;
  d.background_flows = 2;
  d.job.first_due = 1000s;
  d.job.announce.lead_source = LeadSource::kNone;
  GeneratorConfig c = d.traffic();
  c.long_flows.clear();
  FlowsConfig flows;
  flows.name = "mice";
  flows.from = {"b0", "b1"};
  flows.to = {"c0", "c1"};
  flows.distribution = source_path("conf/distributions/hadoop.cdf");
  flows.rate = BitRate{20'000'000};
  flows.transport = "background";
  flows.records = 10'000;
  flows.duration = 300ms;
  c.flows = {flows};
  const Mempool pool = make_test_pool();
  Simulation simulation(d.switches(), c, *pool);
  simulation.run_until(Time{} + 20s);
  const auto records = simulation.result().traffic.flow_groups.at(0).records;
  const Preview p = preview(c, 10s);
  ASSERT_EQ(p.events, records.size());
  ASSERT_GT(p.events, 3U);
  for (const auto& r : records) {
    std::ostringstream line;
    line << r.arrival_ns << ",flow_arrival,mice," << r.from << ',' << r.to << ',' << r.bytes;
    EXPECT_THAT(p.csv, HasSubstr(line.str()));
  }
}

}  // namespace
}  // namespace outrider::preview_test
