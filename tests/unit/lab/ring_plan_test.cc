// Goal: a ring of an experiment is on the hosts that [job] names, one of each group in turn, and
// what makes no sense with it is refused by its key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/lab/experiment_fixture.h"

namespace outrider {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Workers behind two switches. @param job,parameters lines of these tables
std::string ring_experiment(const std::string& job, const std::string& parameters) {
  return R"(
name = "ring"
question = "?"
[network]
measured = "a.to_b"
rtt = "2ms"
[[switch]]
name = "a"
[[switch]]
name = "b"
[[link]]
a = "a"
b = "b"
rate = "100mbit"
delay = "500us"
[[hosts]]
name = "left"
count = 3
switch = "a"
rate = "1gbit"
delay = "250us"
[[hosts]]
name = "right"
count = 2
switch = "b"
rate = "1gbit"
delay = "250us"
[[hosts]]
name = "counted"
count = "workers"
switch = "b"
rate = "1gbit"
delay = "250us"
[job]
)" + job +
         R"(
[parameters]
signal_form = "udp"
schedule = "closed_loop"
burst_bytes = "1MB"
background_flows_per_pair = 0
)" + parameters +
         "\n[[arm]]\nlabel = \"off\"\n";
}

constexpr const char* kBoth = "ring = [\"left\", \"right\"]";

TEST(RingPlan, TakesItsWorkersInTurn) {
  const auto cases = plan_of(ring_experiment(kBoth, "workers = 5"));
  const GeneratorConfig& traffic = cases.at(0).traffic;
  ASSERT_EQ(traffic.jobs.size(), 1U);
  EXPECT_EQ(traffic.jobs[0].collective, Collective::kRing);
  EXPECT_THAT(traffic.jobs[0].servers, ElementsAre());
  EXPECT_THAT(traffic.jobs[0].workers,
              ElementsAre("left_0", "right_0", "left_1", "right_1", "left_2"));
  for (const auto& sw : cases[0].switches.switches)
    EXPECT_EQ(sw.signals.accept_from.size(), 5U) << "STARTs are believed from its hosts alone";
}

TEST(RingPlan, FaultsNameTheirKeyAndTheirCause) {
  const auto faults = [](const std::string& job, const std::string& parameters) {
    const auto file = read_experiment(ring_experiment(job, parameters));
    if (!file) return format_issues("f", file.issues);
    return format_issues("f", make_plan(*file.config, {.seeds = 1}).issues);
  };
  EXPECT_THAT(faults(kBoth, "workers = 4"), HasSubstr("workers: 4: must be the hosts of [job] "
                                                      "ring, 5"));
  EXPECT_THAT(faults(kBoth, "workers = 5\njobs = 2"), HasSubstr("jobs: 2: must be 1 with ring"));
  EXPECT_THAT(faults(kBoth, "workers = 5\nservers = 2"), HasSubstr("servers: 2: must be left out"));
  EXPECT_THAT(faults(kBoth, "workers = 5\nprotocol = \"mlt\"\nlayer_classes = 2"),
              HasSubstr("one DSCP in class_dscps"));
  EXPECT_THAT(faults("ring = [\"left\", \"wright\"]", "workers = 5"), HasSubstr("job.ring"));
  EXPECT_THAT(faults("ring = [\"left\", \"left\"]", "workers = 5"), HasSubstr("is named twice"));
  EXPECT_THAT(faults("ring = [\"counted\"]", "workers = 5"), HasSubstr("needs a number"));
  EXPECT_THAT(faults(std::string(kBoth) + "\nhosts = \"counted\"", "workers = 5"),
              HasSubstr("must not be given together with ring"));
}

}  // namespace
}  // namespace outrider
