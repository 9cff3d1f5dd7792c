// Goal: what killed programs left is removed, and nothing else. Method: directories as the EAL
// makes them, with sockets that somebody listens on or nobody does.
#include "common/dpdk/eal/stale_runtimes.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace outrider::stale_runtimes_test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class StaleRuntimes : public testing::Test {
 protected:
  StaleRuntimes() {
    std::string name = (fs::temp_directory_path() / "outrider-rt-XXXXXX").string();
    base_ = mkdtemp(name.data());
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
    ended_ = std::to_string(child);
  }
  ~StaleRuntimes() override { fs::remove_all(base_); }

  /// @return the listening socket
  int make(const std::string& name) const {
    fs::create_directory(base_ / name);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = base_ / name / "dpdk_telemetry.v2";
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(fd, 1), 0);
    return fd;
  }
  void make_abandoned(const std::string& name) const { close(make(name)); }
  bool exists(const std::string& name) const { return fs::exists(base_ / name); }

  /// Makes a runtime directory without a socket, as if it had been made so long before now_.
  void make_bare(const fs::path& path, std::chrono::seconds age) const {
    fs::create_directories(path);
    fs::last_write_time(path, now_ - age);
  }

  static constexpr fs::file_time_type now_{std::chrono::hours(1)};
  fs::path base_;
  std::string ended_;  ///< id of a process that has ended
};

TEST_F(StaleRuntimes, OnlyWhatAKilledProgramOfOursLeftIsRemoved) {
  const std::string living = std::to_string(getpid());
  make_abandoned("outrider-switch-" + ended_);
  make_abandoned("outrider-trafficgen-" + ended_);
  make_abandoned("outrider-switch-" + living);  // about to listen
  make_abandoned("testpmd-" + ended_);
  make_abandoned("outrider-switch");
  const int listener = make("outrider-lab-" + ended_);  // of another PID namespace
  make_bare(base_ / ("outrider-bare-" + ended_), 59s);  // about to make a socket
  fs::create_directory_symlink(base_ / "testpmd", base_ / ("outrider-link-" + ended_));

  EXPECT_EQ(remove_stale_runtimes(base_, now_), 2U);
  EXPECT_FALSE(exists("outrider-switch-" + ended_));
  EXPECT_FALSE(exists("outrider-trafficgen-" + ended_));
  for (const std::string& kept :
       {"outrider-switch-" + living, "testpmd-" + ended_, std::string("outrider-switch"),
        "outrider-lab-" + ended_, "outrider-bare-" + ended_})
    EXPECT_TRUE(exists(kept)) << kept;
  close(listener);
  EXPECT_EQ(remove_stale_runtimes(base_, now_), 1U) << "the listener has ended";
  EXPECT_EQ(remove_stale_runtimes(base_ / "absent", now_), 0U);
}

TEST_F(StaleRuntimes, OneWithoutASocketIsRemovedWhenItIsOld) {
  make_bare(base_ / ("outrider-switch-" + ended_), 60s);
  make_bare(base_ / ("outrider-switch-" + std::to_string(getpid())), 1h);
  make_bare(base_ / ("testpmd-" + ended_), 1h);
  EXPECT_EQ(remove_stale_runtimes(base_, now_), 1U);
  EXPECT_FALSE(exists("outrider-switch-" + ended_));
}

TEST_F(StaleRuntimes, PrivateDirectoriesOfEndedProcessesGoToo) {
  const std::string living = std::to_string(getpid());
  make_bare(base_ / "outrider-runtime-aaaaaa/dpdk" / ("outrider-switch-" + ended_), 1h);
  make_bare(base_ / "outrider-runtime-bbbbbb/dpdk" / ("outrider-switch-" + ended_), 1h);
  make_bare(base_ / "outrider-runtime-bbbbbb/dpdk" / ("outrider-switch-" + living), 1h);
  make_bare(base_ / "outrider-runtime-cccccc", 1h);  // its process is about to make the rest
  make_bare(base_ / "other-aaaaaa/dpdk" / ("outrider-switch-" + ended_), 1h);
  remove_stale_private_runtimes(base_, now_);
  EXPECT_FALSE(exists("outrider-runtime-aaaaaa"));
  EXPECT_FALSE(exists("outrider-runtime-bbbbbb/dpdk/outrider-switch-" + ended_));
  EXPECT_TRUE(exists("outrider-runtime-bbbbbb/dpdk/outrider-switch-" + living));
  EXPECT_TRUE(exists("outrider-runtime-cccccc"));
  EXPECT_TRUE(exists("other-aaaaaa/dpdk/outrider-switch-" + ended_));
}

}  // namespace
}  // namespace outrider::stale_runtimes_test
