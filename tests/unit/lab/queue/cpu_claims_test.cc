// Goal: workers on one machine have CPUs of their own, from those that they may use. Method: CPUs
// that the test chooses, which need not exist, under names of its own.
#include "tools/lab/queue/cpu_claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "common/dpdk/error.h"
#include "tools/lab/run/cpus.h"

namespace outrider::cpu_claims_test {
using namespace lab;
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string own_name() { return "outrider-test-" + std::to_string(getpid()) + "-"; }

std::string refusal(std::size_t count, const std::vector<unsigned>& allowed) {
  try {
    const CpuClaims claims(count, allowed, own_name());
    return {};
  } catch (const EnvironmentError& error) {
    return error.what();
  }
}

TEST(CpuClaims, DoNotOverlapAndAreOfTheMask) {
  const CpuClaims a(1, {3, 5, 9, 11}, own_name()), b(2, {3, 5, 9, 11}, own_name());
  EXPECT_THAT(a.cpus(), ElementsAre(3));
  EXPECT_THAT(b.cpus(), ElementsAre(5, 9));
  const CpuClaims other_mask(1, {9, 200}, own_name());
  EXPECT_THAT(other_mask.cpus(), ElementsAre(200));
}

TEST(CpuClaims, TooFewAreSaidAndNoneIsKept) {
  const CpuClaims a(1, {3, 5}, own_name());
  EXPECT_THAT(refusal(2, {3, 5}), HasSubstr("--cpus 2: of the 2 CPUs that this process may use, 1 "
                                            "have no worker"));
  EXPECT_EQ(refusal(1, {3, 5}), "") << "5 is free again";
}

TEST(CpuClaims, EndWithTheObject) {
  { const CpuClaims a(2, {3, 5}, own_name()); }
  EXPECT_EQ(refusal(2, {3, 5}), "");
}

TEST(CpuClaims, AKilledWorkerHasThemNoLonger) {
  const std::string name = own_name();
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe(ready.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const CpuClaims claims(2, {3, 5}, name);
    if (write(ready[1], "x", 1) == 1) pause();
    _exit(1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_THAT(refusal(1, {3, 5}), HasSubstr("0 have no worker"));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(refusal(2, {3, 5}), "");
}

TEST(CpuClaims, SayWhichTheyAre) {
  EXPECT_EQ(cpus_text({3}), "CPU 3");
  EXPECT_EQ(cpus_text({0, 2}), "CPUs 0 and 2");
  EXPECT_EQ(cpus_text({0, 2, 5}), "CPUs 0, 2 and 5");
}

}  // namespace
}  // namespace outrider::cpu_claims_test
