// Goal: `check` says where the first baseline decides what is said of a remedy, although another
// one differs from it in the remedy alone. Method: three arms in both orders.
#include <gtest/gtest.h>

#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tools/lab/warnings/advice.h"

namespace outrider::baseline_advice_test {
using namespace lab;
namespace {

constexpr const char* kTail = "[[arm]]\nlabel = \"tail\"\nswitch.marker.kind = \"tail_drop\"\n";
constexpr const char* kStep = "[[arm]]\nlabel = \"step\"\n";
constexpr const char* kOn = "[[arm]]\nlabel = \"on\"\nswitch.regulation.mode = \"mark\"\n";

std::string told(const std::string& arms) {
  const std::string small = small_experiment();
  const auto file = read_experiment(small.substr(0, small.find("[[arm]]")) + arms);
  EXPECT_TRUE(file) << format_issues("text", file.issues);
  return file ? format_advice("f", advice(*file.config)) : "";
}

// PCN was "longer" in one order, and gained in the other.
TEST(BaselineAdvice, NamesABaselineThatDiffersInTheRemedyAlone) {
  EXPECT_EQ(told(std::string(kTail) + kStep + kOn),
            "f: warning: arm \"on\": is compared with \"tail\", from which it differs in more than "
            "its remedy, although \"step\" is all that it is without; set against = \"step\", or "
            "\"tail\" if that is meant\n");
  EXPECT_EQ(told(std::string(kStep) + kTail + kOn), "");
  EXPECT_EQ(told(std::string(kTail) + kOn), "") << "there is no other";
  for (const char* against : {"step", "tail"})
    EXPECT_EQ(told(std::string(kTail) + kStep + kOn + "against = \"" + against + "\"\n"), "")
        << against;
}

TEST(BaselineAdvice, LooksAtThePointOfTheArmAlone) {
  const std::string sweep = "[[sweep]]\njob.burst_bytes = [\"1MB\"]\n";
  const std::string arms = std::string(kTail) + kStep + kOn;
  const std::string once = told(arms);
  EXPECT_EQ(told(arms + sweep + "arms = [\"tail\", \"step\", \"on\"]\n"), once) << "once an arm";
  EXPECT_EQ(told(std::string(kStep) + kTail + kOn + sweep + "arms = [\"tail\", \"on\"]\n"), "");
}

}  // namespace
}  // namespace outrider::baseline_advice_test
