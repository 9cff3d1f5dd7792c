// Goal: the roofline of an iteration is computing and the bytes of a rank at its NIC's rate, and an
// iteration that did not end has none. Method: records made by hand.
#include "tools/lab/measure/roofline.h"

#include <gtest/gtest.h>

#include "tests/unit/lab/measure/metrics_fixture.h"

namespace outrider::roofline_test {
using namespace tg;
using namespace lab;
namespace {

using namespace lab_test;

/// Returns a ring of two at 8 Mbit/s: 100 kB take 100 ms.
Case ring() {
  Case c = make_case("off");
  c.traffic.jobs.back().collective = Collective::kRing;
  for (HostConfig& host : c.traffic.hosts) host.rate = {8'000'000};
  return c;
}

void add_iteration(RunResult& r, std::uint16_t worker, std::uint32_t iteration, double ready,
                   double end) {
  add_burst(r, worker, iteration, {.due = ready, .delivered = end});
  IterationRecord record;
  record.worker = worker;
  record.iteration = iteration;
  record.begin_ns = at_ms(0);
  record.ready_ns = at_ms(ready);
  record.end_ns = at_ms(end);
  r.traffic.iterations.push_back(record);
}

TEST(Roofline, IsComputingAndThenTheBytesOfARank) {
  const Case c = ring();
  RunResult r = make_result(1000);
  add_iteration(r, 0, 0, 50, 180);
  add_iteration(r, 1, 0, 100, 240);
  EXPECT_EQ(over_roofline({.definition = &c, .result = r}), std::vector<double>{1.2})
      << "240 ms over 100 + 100";
}

TEST(Roofline, IsOfWholeIterationsWithoutServersAlone) {
  Case c = ring();
  RunResult r = make_result(1000);
  add_iteration(r, 0, 0, 50, 180);
  add_iteration(r, 1, 0, 100, 240);
  r.traffic.iterations.back().end_ns = kNotYet_ns;
  EXPECT_TRUE(over_roofline({.definition = &c, .result = r}).empty());
  r.traffic.iterations.back().end_ns = at_ms(240);
  c.skip_iterations = 1;
  EXPECT_TRUE(over_roofline({.definition = &c, .result = r}).empty());
  c.skip_iterations = 0;
  c.traffic.jobs.back().collective = Collective::kPs;
  EXPECT_TRUE(over_roofline({.definition = &c, .result = r}).empty());
}

}  // namespace
}  // namespace outrider::roofline_test
