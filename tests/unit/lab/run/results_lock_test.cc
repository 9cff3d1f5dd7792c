// Goal: a directory of results has one session, and a later one hears who. Method: a second lock
// beside the first, and after its process was killed.
#include "tools/lab/run/results_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "common/dpdk/eal/error.h"

namespace outrider::results_lock_test {
using namespace lab;
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ResultsLockTest : public testing::Test {
 protected:
  ResultsLockTest() {
    std::string name = (fs::temp_directory_path() / "outrider-lock-XXXXXX").string();
    directory_ = mkdtemp(name.data());
  }
  ~ResultsLockTest() override { fs::remove_all(directory_); }

  /// @return what is said to a further session; empty if it may go on
  std::string refusal() const {
    try {
      const ResultsLock lock(directory_, "outrider-lab run b.toml");
      return {};
    } catch (const EnvironmentError& error) {
      return error.what();
    }
  }

  fs::path directory_;
};

TEST_F(ResultsLockTest, ASecondSessionHearsWhoIsThere) {
  {
    const ResultsLock lock(directory_, "outrider-lab run a.toml");
    EXPECT_THAT(refusal(), HasSubstr(directory_.string() + " is in use by process " +
                                     std::to_string(getpid()) + " (outrider-lab run a.toml)"));
  }
  EXPECT_EQ(refusal(), "");
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(ResultsLockTest, AKilledSessionHasItNoLonger) {
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe(ready.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const ResultsLock lock(directory_, "outrider-lab run a.toml");
    const char byte = 1;
    if (write(ready[1], &byte, 1) == 1) pause();
    _exit(1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_THAT(refusal(), HasSubstr("process " + std::to_string(child)));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(refusal(), "");
  for (const int end : ready) close(end);
}

TEST_F(ResultsLockTest, DoesNotFollowALinkOfSomebodyElse) {
  std::ofstream(directory_ / "precious") << "keep";
  fs::create_symlink(directory_ / "precious", directory_ / ".outrider-lab.lock");
  EXPECT_THAT(refusal(), HasSubstr(".outrider-lab.lock: cannot be made"));
  EXPECT_EQ(fs::file_size(directory_ / "precious"), 4U);
}

}  // namespace
}  // namespace outrider::results_lock_test
