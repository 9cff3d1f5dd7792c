// Goal: experiments of the earlier language become what they say in the language of today, comments
// and all. Method: texts. (That no configuration of a shipped file changed was measured when they
// were converted.)
#include "tools/lab/editing/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/lab/experiment/experiment_fixture.h"

namespace outrider::convert_test {
using namespace lab;
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string converted(const std::string& text) { return convert_experiment(text).text; }

TEST(Convert, AParameterBecomesTheSettingThatItWas) {
  EXPECT_EQ(converted("[parameters]\nregulation = \"mark\"  # as published\nworkers = 4\n"),
            "[parameters]\nswitch.regulation.mode = \"mark\"  # as published\nworkers = 4\n");
  EXPECT_EQ(converted("[[arm]]\nlabel = \"on\"\nlead_rtts = 2\nperiod_seconds = 0.02\n"),
            "[[arm]]\nlabel = \"on\"\njob.announce.lead = \"2rtt\"\njob.period = \"20ms\"\n");
  EXPECT_EQ(converted("[[arm]]\nlead_rtts = \"auto\"\nstatic_pair = true\nsignal_signed = true\n"),
            "[[arm]]\njob.announce.lead = \"auto\"\n"
            "switch.marker.background_threshold_packets = \"h\"\n"
            "job.announce.signal_key = \"auto\"\n");
  EXPECT_EQ(converted("[[arm]]\nqueue_room = \"split\"\nlayer_classes = 3\n"),
            "[[arm]]\nswitch.share_limit = true\n"
            "ddl.transport.mlt.class_dscps = [24, 16, 8]\n");
}

TEST(Convert, SweepsAreOneKind) {
  EXPECT_EQ(converted("[[vary]]\nparameter = \"lead_rtts\"\nvalues = [0.5, 2]  # early\n"
                      "arms = [\"on\"]\n"),
            "[[sweep]]\njob.announce.lead = [\"0.5rtt\", \"2rtt\"]  # early\narms = [\"on\"]\n");
  EXPECT_EQ(converted("[[cross]]\nworkers = [1, 2]\nconnection = [\"keep\"]\n"),
            "[[sweep]]\nworkers = [1, 2]\ntransport.connections = [\"keep\"]\n");
}

TEST(Convert, AFrontIsASearch) {
  EXPECT_EQ(converted("[front]\nscreening_seeds = 3\nseeds = 12\nreport_seeds = 30\n"
                      "[[front.system]]\nlabel = \"mark\"\nlead_rtts = [1, 2]\n"),
            "[search]\npick = \"front\"\nscreening_seeds = 3\nnarrowing_seeds = 12\n"
            "verifying_seeds = 30\n[[search.family]]\nlabel = \"mark\"\n"
            "job.announce.lead = [\"1rtt\", \"2rtt\"]\n");
}

TEST(Convert, AListedJobHasItsOwnKeys) {
  EXPECT_EQ(converted("[[job]]\nname = \"a\"\nprotocol = \"roce\"\nperiod_seconds = 1\n"
                      "burst_bytes = \"1MB\"\n"),
            "[[job]]\nname = \"a\"\ntransport.protocol = \"roce\"\nperiod = \"1s\"\n"
            "burst_bytes = \"1MB\"\n");
}

// An editor on Windows showed every line as changed.
TEST(Convert, EndsOfLinesStay) {
  EXPECT_EQ(converted("[parameters]\r\nregulation = \"mark\"\r\n# a\r\nworkers = 4\r\n"),
            "[parameters]\r\nswitch.regulation.mode = \"mark\"\r\n# a\r\nworkers = 4\r\n");
  EXPECT_EQ(converted("[[arm]]\r\nlayer_classes = 3  # of\r\nlead_rtts = 2\r\n"),
            "[[arm]]\r\nddl.transport.mlt.class_dscps = [24, 16, 8]  # of\r\n"
            "job.announce.lead = \"2rtt\"\r\n");
  EXPECT_EQ(converted("[[arm]]\r\nlead_rtts = 2\n"), "[[arm]]\njob.announce.lead = \"2rtt\"\n")
      << "some lines alone";
}

TEST(Convert, WhatIsNoParameterStays) {
  const std::string text =
      "# regulation = \"mark\"\n[network]\nrtt = \"2ms\"\n[[hosts]]\nname = \"model\"\n"
      "[parameters]\nswitch.queue.limit_packets = 60\narms = [\n  \"a\",  # one\n  \"b\"]\n";
  const Converted now = convert_experiment(text);
  EXPECT_EQ(now.text, text);
  EXPECT_EQ(now.changes, 0U);
  const std::string twice = converted("[parameters]\nregulation = \"mark\"\n");
  EXPECT_EQ(converted(twice), twice);
}

TEST(Convert, TextsOfSeveralLinesStay) {
  for (const std::string quotes : {"\"\"\"", "'''"}) {
    const std::string text = "question = " + quotes + "\n[parameters]\nregulation = \"mark\"\n" +
                             quotes + "  # of [front]\nnotes = [" + quotes + "\n[front]\n" +
                             quotes + ",\n  " + quotes + "[[vary]]" + quotes + "]\n";
    const Converted now = convert_experiment(text + "[parameters]\nregulation = \"mark\"\n");
    EXPECT_EQ(now.text, text + "[parameters]\nswitch.regulation.mode = \"mark\"\n");
    EXPECT_EQ(now.changes, 1U);
  }
  const std::string end = "question = \"\"\"a \\\"\"\"\"\"  # regulation\n";
  EXPECT_EQ(converted(end + "parameters.lead_rtts = 2\n"),
            end + "parameters.job.announce.lead = \"2rtt\"\n");
}

TEST(Convert, NothingIsLost) {
  const std::string half = "[[vary]]\nparameter = \"burst_bytes\"\narms = [\"on\"]\n";
  const Converted now = convert_experiment(half);
  EXPECT_THAT(now.text, HasSubstr("parameter = \"burst_bytes\"\n"));
  EXPECT_THAT(now.left_alone, ElementsAre(HasSubstr("[[vary]] needs its parameter")));
  const std::string list = "[[vary]]\nparameter = \"burst_bytes\"\nvalues = [\n  1,  # one\n  2]\n";
  EXPECT_THAT(convert_experiment(list).text, HasSubstr("parameter = \"burst_bytes\"\n"));
  EXPECT_EQ(convert_experiment(list).left_alone.empty(), false);
  const std::string first = "[[sweep]]\nlead_rtts = [  # early\n  1, 2]\n";
  EXPECT_THAT(convert_experiment(first).text, HasSubstr("# early"));
}

TEST(Convert, WhatStandsElsewhereIsRewrittenOrNamed) {
  EXPECT_EQ(converted("base = \"one-queue\"\nparameters.lead_rtts = 2\n"),
            "base = \"one-queue\"\nparameters.job.announce.lead = \"2rtt\"\n");
  EXPECT_THAT(convert_experiment("parameters = { lead_rtts = 2 }\n").left_alone,
              ElementsAre(HasSubstr("parameters.lead_rtts is job.announce.lead now")));
  EXPECT_THAT(convert_experiment("job = [{ name = \"a\", period_seconds = 2 }]\n").left_alone,
              ElementsAre("job.period_seconds is period now, and stands where it cannot be "
                          "rewritten"));
  EXPECT_EQ(converted("[[cross]]\nqueue_room = [\"each\", \"split\"]\n"),
            "[[sweep]]\nswitch.share_limit = [false, true]\n");
}

TEST(Convert, WhatAPersonHasToRewriteIsNamed) {
  EXPECT_THAT(convert_experiment("[matrix]\nlead_rtts = [1, 2]\n").left_alone,
              ElementsAre(HasSubstr("line 1: [matrix] is gone")));
  EXPECT_THAT(convert_experiment("[[arm]]\nstatic_pair = false\n").left_alone,
              ElementsAre("line 2: static_pair is "
                          "switch.marker.background_threshold_packets now"));
}

}  // namespace
}  // namespace outrider::convert_test
