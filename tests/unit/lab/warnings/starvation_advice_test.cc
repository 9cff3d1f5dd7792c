// Goal: `check` warns where background that obeys no marks leaves a job that obeys them nothing.
// Method: small experiments, of which one setting differs. That such a job gets so little was
// measured: a tenth of its link with one flow of CUBIC, and less with a deeper buffer.
#include "tools/lab/warnings/starvation_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tools/lab/warnings/advice.h"

namespace outrider::starvation_advice_test {
using namespace lab;
namespace {

std::string told(const std::string& parameters, const std::string& groups = "") {
  std::string text = with(small_experiment(groups), "[parameters]\n",
                          "[parameters]\nswitch.queue.limit_packets = 250\n" + parameters);
  if (!groups.empty())
    text = with(text, "[background]\nfrom = \"sender\"\nto = \"receiver\"\n", "");
  return format_advice("f", starvation_advice(plan_of(text)));
}

TEST(StarvationAdvice, WarnsOfFlowsThatObeyNoMarksBesideAJobThatDoes) {
  const std::string marked = "switch.marker.threshold_packets = 47\n";
  const std::string deaf = marked + "background.transport.ecn = false\n";
  const auto starves = testing::StartsWith(
      "f: warning: background.transport.ecn: false: these "
      "flows obey no marks and keep the queue above");
  EXPECT_THAT(told(deaf), starves);
  EXPECT_THAT(told(deaf + "switch.marker.not_ect = \"pass\"\nswitch.marker.kind = \"red\"\n"),
              starves);
  EXPECT_THAT(told(marked + "background.transport.obey_ece = false\n"),
              testing::HasSubstr("set background.transport.obey_ece = true"));
  const struct {
    const char* why;
    std::string parameters;
  } fine[] = {
      {"all obey", marked},
      {"none obeys", marked + "transport.ecn = false\n"},
      {"the queue falls below it",
       "switch.marker.threshold_packets = 190\n"
       "background.transport.ecn = false\n"},
      {"so it does in bytes", deaf + "switch.queue.limit_bytes = \"90kB\"\n"},
      {"a queue of its own", deaf + "switch.scheduler = \"strict\"\n"},
      {"what would be marked is dropped", deaf + "switch.marker.not_ect = \"drop\"\n"},
      {"no marks", deaf + "switch.marker.kind = \"tail_drop\"\n"},
      {"flows that end", deaf + "background.flows_per_pair = 0\n"},
  };
  for (const auto& [why, parameters] : fine) EXPECT_EQ(told(parameters), "") << why;
}

TEST(StarvationAdvice, NamesTheGroup) {
  const std::string groups = R"(
[[background]]
name = "polite"
from = "sender"
to = "receiver"
long_flows = 1
transport.controller = "dctcp"
[[background]]
name = "rude"
from = "sender"
to = "receiver"
long_flows = 1
both_ways = true
transport.ecn = false
)";
  const std::string text = told("switch.marker.threshold_packets = 47\n", groups);
  EXPECT_THAT(text, testing::StartsWith("f: warning: background.rude.transport.ecn: false"));
  EXPECT_EQ(text.find("f: warning"), text.rfind("f: warning")) << "once for all cases\n" << text;
}

}  // namespace
}  // namespace outrider::starvation_advice_test
