// Goal: `check` warns where the headroom of a lossless class is less than what a link brings after
// XOFF. Method: a small experiment. That so much suffices is shown by pfc_effect_test.
#include "tools/lab/warnings/lossless_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tools/lab/warnings/advice.h"

namespace outrider::lossless_advice_test {
using namespace lab;
namespace {

using testing::HasSubstr;
using testing::Not;

std::string told(const std::string& headroom, const std::string& hosts = "") {
  std::string text =
      with(small_experiment(), "[parameters]\n",
           "[parameters]\nddl.transport.protocol = \"roce\"\njob.announce.signal_form = \"udp\"\n"
           "ddl.transport.priority = 3\nswitch.queue.limit_packets = 4000\n"
           "switch.queue.lossless.xoff_bytes = \"50KB\"\n"
           "switch.queue.lossless.headroom_bytes = \"" +
               headroom + "\"\n");
  text = with(text, "name = \"worker\"\n", "name = \"worker\"\n" + hosts);
  const auto file = read_experiment(text);
  EXPECT_TRUE(file) << format_issues("text", file.issues);
  if (!file) return "";
  const auto plan = make_plan(*file.config);
  EXPECT_TRUE(plan) << format_issues("text", plan.issues);
  return plan ? format_advice("f", advice(*plan.config)) : "";
}

// The links of the senders, of 1 Gbit/s, have 200 to 300 us; that of the worker has 250.
TEST(LosslessAdvice, NamesTheLinkThatLacksMost) {
  const std::string text = told("30KB");
  EXPECT_THAT(text, HasSubstr("f: warning: switch.queue.lossless.headroom_bytes: 30000 B: after "
                              "XOFF, the link of \""));
  EXPECT_THAT(text, HasSubstr("(1gbit, "));
  EXPECT_THAT(text, HasSubstr("B (rate x 2 delays + 2 frames of 1514 B + 84 B)"));
  EXPECT_EQ(text.find("headroom_bytes"), text.rfind("headroom_bytes")) << "once for all arms";
  EXPECT_THAT(told("79KB"), Not(HasSubstr("headroom_bytes")));
}

TEST(LosslessAdvice, CountsTheLargestFrame) {
  EXPECT_THAT(told("79KB", "mtu_bytes = 9000\n"), HasSubstr("2 frames of 9014 B"));
  EXPECT_THAT(told("95KB", "mtu_bytes = 9000\n"), Not(HasSubstr("headroom_bytes")));
}

}  // namespace
}  // namespace outrider::lossless_advice_test
