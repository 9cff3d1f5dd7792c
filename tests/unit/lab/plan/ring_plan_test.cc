// Goal: a ring of an experiment is on the hosts that [job] names, one of each group in turn, and
// parameters that make no sense with it are rejected by their keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tools/lab/warnings/advice.h"

namespace outrider::ring_plan_test {
using namespace tg;
using namespace lab;
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Returns the small experiment with a ring on its three senders and two receivers.
/// @param job,parameters lines of these tables
std::string ring_experiment(const std::string& job, const std::string& parameters) {
  std::string text =
      with(small_experiment(), "name = \"sender\"\ncount = 2", "name = \"sender\"\ncount = 3");
  text = with(text, "[background]\nfrom = \"sender\"\nto = \"receiver\"\n", "[job]\n" + job + "\n");
  return with(text, "[parameters]\n",
              "[parameters]\njob.announce.signal_form = \"udp\"\nbackground.flows_per_pair = 0\n" +
                  parameters + "\n");
}

constexpr const char* kBoth = "ring = [\"sender\", \"receiver\"]";

TEST(RingPlan, TakesItsWorkersInTurn) {
  const auto cases = plan_of(ring_experiment(kBoth, "workers = 5"));
  const GeneratorConfig& traffic = cases.at(0).traffic;
  ASSERT_EQ(traffic.jobs.size(), 1U);
  EXPECT_EQ(traffic.jobs[0].collective, Collective::kRing);
  EXPECT_THAT(traffic.jobs[0].servers, ElementsAre());
  EXPECT_THAT(traffic.jobs[0].workers,
              ElementsAre("sender_0", "receiver_0", "sender_1", "receiver_1", "sender_2"));
  for (const auto& sw : cases[0].switches.switches)
    EXPECT_EQ(sw.signals.accept_from.size(), 5U) << "STARTs are believed from its hosts alone";
}

TEST(RingPlan, SettingsNameAnotherCollective) {
  const auto cases = plan_of(ring_experiment(kBoth,
                                             "workers = 5\njob.collective = \"all_to_all\"\n"
                                             "job.all_to_all.skew = 1.5"));
  const JobConfig& job = cases.at(0).traffic.jobs.at(0);
  EXPECT_EQ(job.collective, Collective::kAllToAll);
  EXPECT_EQ(job.all_to_all.skew, 1.5);
  EXPECT_EQ(job.workers.size(), 5U);
  EXPECT_TRUE(job.servers.empty());
}

TEST(RingPlan, WarnsOfARegulationThatEndsBetweenTwoMessages) {
  const auto told = [](const std::string& collective, const std::string& parameters = "") {
    return format_advice(
        "f", advice(plan_of(ring_experiment(
                 kBoth, "workers = 5\njob.collective = \"" + collective + "\"\n" + parameters))));
  };
  const auto ring = with(ring_experiment(kBoth, "workers = 5"), "\"100kB\"", "\"1MB\"");
  // Five workers send a fifth of 1 MB each, half of them over 100 Mbit/s: 40 ms, and half an RTT.
  EXPECT_EQ(
      format_advice("f", advice(plan_of(ring))),
      "f: warning: arm \"on\": idle_end: 8ms ends regulation in the midst of an iteration: "
      "with \"ring\" a connection is silent for about 41ms, and longer beside background; set "
      "switch.regulation.idle_end = \"82rtt\", and expiry no shorter\n");
  EXPECT_EQ(told("ring"), "") << "5 ms";
  EXPECT_EQ(told("halving_doubling"), "") << "other connections send meanwhile";
  EXPECT_THAT(told("pipeline"), HasSubstr("silent for about 9200us"));
  EXPECT_EQ(told("pipeline", "switch.regulation.idle_end = \"5rtt\""), "");
  EXPECT_EQ(told("pipeline", "switch.regulation.recovery = \"arrival\""), "");
  EXPECT_EQ(told("tree"), "") << "a connection has one message";
  EXPECT_EQ(told("all_to_all"), "") << "all at once";
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
  EXPECT_THAT(
      faults(
          kBoth,
          "workers = 5\nddl.transport.protocol = \"mlt\"\nddl.transport.mlt.class_dscps = [16, 8]"),
      HasSubstr("one DSCP in class_dscps"));
  EXPECT_THAT(faults("ring = [\"sender\", \"reciever\"]", "workers = 5"), HasSubstr("job.ring"));
  EXPECT_THAT(faults("ring = [\"sender\", \"sender\"]", "workers = 5"),
              HasSubstr("is named twice"));
  EXPECT_THAT(faults(kBoth, "workers = 5\njob.collective = \"ps\""),
              HasSubstr("job.collective: \"ps\": must be one without servers"));
  EXPECT_THAT(faults(kBoth, "workers = 5\njob.all_to_all.skew = 1.5"),
              HasSubstr("needs collective \"all_to_all\""));
  EXPECT_THAT(faults("workers = \"worker\"", "job.collective = \"tree\""),
              HasSubstr("job.collective: \"tree\": needs ring in [job]"));
  EXPECT_THAT(faults("ring = [\"worker\"]", "workers = 5"), HasSubstr("needs a number"));
  EXPECT_THAT(faults(std::string(kBoth) + "\nhosts = \"worker\"", "workers = 5"),
              HasSubstr("must not be given together with ring"));
}

}  // namespace
}  // namespace outrider::ring_plan_test
