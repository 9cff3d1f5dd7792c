// Goal: a reader of the log that stalls stops nobody, and is told what it missed. Method: a
// pipe in the place of stderr, filled to the brim; a log that waits would never return.
#include "common/telemetry/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace outrider::log_test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Puts a pipe in the place of stderr as long as it lives.
class StderrPipe {
 public:
  StderrPipe() : saved_(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) {
    EXPECT_EQ(pipe2(ends_, O_CLOEXEC), 0);
    dup2(ends_[1], STDERR_FILENO);
  }
  ~StderrPipe() {
    dup2(saved_, STDERR_FILENO);
    for (const int fd : {saved_, ends_[0], ends_[1]}) close(fd);
  }
  StderrPipe(const StderrPipe&) = delete;
  StderrPipe& operator=(const StderrPipe&) = delete;

  void fill() const {
    const std::string page(4096, 'x');
    fcntl(ends_[1], F_SETFL, O_NONBLOCK);
    while (write(ends_[1], page.data(), page.size()) > 0) {
    }
    fcntl(ends_[1], F_SETFL, 0);
  }
  [[nodiscard]] std::string drain() const {
    std::string all;
    char part[4096];
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    for (ssize_t n; (n = read(ends_[0], part, sizeof part)) > 0;)
      all.append(part, static_cast<std::size_t>(n));
    return all;
  }

 private:
  int saved_;
  int ends_[2]{};
};

TEST(Log, ALineWaitsForWhatIsDrawnButNotForEver) {
  const StderrPipe pipe;
  const std::uint64_t before = log_lines();
  {
    const LogHold drawing;
    std::thread([] { log_warn("held"); }).join();
  }
  EXPECT_EQ(log_lines(), before + 1);
  EXPECT_THAT(pipe.drain(), HasSubstr("held"));
}

TEST(Log, NeverWaitsForItsReaderAndSaysWhatWasLost) {
  const StderrPipe pipe;
  log_warn("first");
  EXPECT_THAT(pipe.drain(), HasSubstr("first"));
  pipe.fill();
  log_warn("second");
  log_warn("third");
  EXPECT_THAT(pipe.drain(), Not(HasSubstr("second")));
  log_warn("fourth");
  const std::string seen = pipe.drain();
  EXPECT_THAT(seen, HasSubstr("2 lines of this log were lost"));
  EXPECT_THAT(seen, HasSubstr("fourth"));
  log_warn(std::string(20'000, 'y'));
  EXPECT_THAT(pipe.drain(), HasSubstr(std::string(20'000, 'y')));
}

}  // namespace
}  // namespace outrider::log_test
