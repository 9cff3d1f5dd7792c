// Goal: what dead processes left is found, and nothing that a living one uses is ever
// offered for removal. Method: trees of files; every way to be seen as alive by itself.
#include "common/machine/leftovers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "tests/unit/doctor/fake_machine.h"

namespace outrider::leftovers_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A socket file without a listener.
void leave_socket(const std::filesystem::path& path) {
  std::filesystem::create_directories(path.parent_path());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  close(fd);
}

TEST(Leftovers, AreRuntimeDirectoriesOfTheDead) {
  FakeMachine machine;
  machine.mkdir("/var/run/dpdk/outrider-switch-4711");
  machine.mkdir("/var/run/dpdk/rte");
  EXPECT_THAT(find_leftovers(machine.machine()).directories,
              ElementsAre("/var/run/dpdk/outrider-switch-4711", "/var/run/dpdk/rte"));
  const Finding finding = machine.find("leftovers.directories");
  EXPECT_EQ(finding.severity, Severity::kNote);
  EXPECT_THAT(finding.cause, HasSubstr("2 (/var/run/dpdk/outrider-switch-4711, "));
  EXPECT_THAT(finding.remedy, HasSubstr("outrider-doctor --leftovers"));
}

TEST(Leftovers, AreNotWhatALivingProcessIsSeenToUse) {
  FakeMachine machine;
  machine.mkdir("/var/run/dpdk/outrider-switch-4711");
  machine.mkdir("/var/run/dpdk/rte");
  machine.mkdir("/tmp/outrider-lab-aB3dE6");
  machine.mkdir("/tmp/outrider-test-aaaaaa/dpdk/outrider-test-4712");
  machine.mkdir("/proc/4711");
  machine.mkdir("/proc/4712");
  using std::string_literals::operator""s;
  machine.write("/proc/99/cmdline",
                "outrider-switch\0--config\0/tmp/outrider-lab-aB3dE6/s.toml\0"s);
  machine.write("/proc/net/unix",
                "Num RefCount Protocol Flags Type St Inode Path\n"
                "0000: 00000002 00000000 00010000 0005 01 42 /run/dpdk/rte/dpdk_telemetry.v2\n");
  EXPECT_THAT(find_leftovers(machine.machine()).directories, IsEmpty());
  EXPECT_EQ(machine.find("leftovers.directories").severity, Severity::kOk);

  machine.remove("/proc/4711");
  EXPECT_THAT(find_leftovers(machine.machine()).directories,
              ElementsAre("/var/run/dpdk/outrider-switch-4711"));
  machine.remove("/proc/4712");
  machine.remove("/proc/99");
  machine.remove("/proc/net/unix");
  EXPECT_EQ(find_leftovers(machine.machine()).directories.size(), 4U);
}

TEST(Leftovers, AreSocketsThatNobodyListensOn) {
  FakeMachine machine;
  leave_socket(machine.at("/tmp/outrider-workers.sock"));
  leave_socket(machine.at("/tmp/somebody-elses.sock"));
  machine.write("/tmp/outrider-notes.txt", "a file is nobody's leftover");
  EXPECT_THAT(find_leftovers(machine.machine()).sockets, ElementsAre("/tmp/outrider-workers.sock"));
  EXPECT_EQ(machine.find("leftovers.sockets").severity, Severity::kNote);
  machine.write("/proc/net/unix", "0: 2 0 10000 0001 01 7 /tmp/outrider-workers.sock\n");
  EXPECT_THAT(find_leftovers(machine.machine()).sockets, IsEmpty());
  EXPECT_EQ(machine.find("leftovers.sockets").severity, Severity::kOk);
}

TEST(Leftovers, AreSocketsInTheDirectoriesOfTheProgramsToo) {
  FakeMachine machine;
  machine.mkdir("/run/outrider");
  machine.mkdir("/run/user/1000/outrider");
  leave_socket(machine.at("/run/outrider/workers.sock"));
  leave_socket(machine.at("/run/user/1000/outrider/servers.sock"));
  EXPECT_THAT(find_leftovers(machine.machine()).sockets, ElementsAre("/run/outrider/workers.sock"));
  machine.machine().runtime_directory = "/run/user/1000";
  EXPECT_THAT(find_leftovers(machine.machine()).sockets,
              ElementsAre("/run/outrider/workers.sock", "/run/user/1000/outrider/servers.sock"));
  machine.write("/proc/net/unix", "0: 2 0 10000 0001 01 7 /run/outrider/workers.sock\n");
  EXPECT_THAT(find_leftovers(machine.machine()).sockets,
              ElementsAre("/run/user/1000/outrider/servers.sock"));
}

TEST(Leftovers, AreLookedForWhereTheUserKeepsThem) {
  FakeMachine machine;
  machine.mkdir("/run/user/1000/dpdk/outrider-switch-4711");
  EXPECT_THAT(find_leftovers(machine.machine()).directories, IsEmpty());
  machine.machine().runtime_directory = "/run/user/1000";
  EXPECT_EQ(find_leftovers(machine.machine()).directories.size(), 1U);
}

TEST(Leftovers, DoNotFollowLinks) {
  FakeMachine machine;
  machine.mkdir("/home/somebody");
  machine.mkdir("/tmp");
  machine.link("/tmp/outrider-link", machine.at("/home/somebody"));
  EXPECT_THAT(find_leftovers(machine.machine()).directories, IsEmpty());
}

}  // namespace
}  // namespace outrider::leftovers_test
