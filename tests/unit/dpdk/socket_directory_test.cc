// Goal: sockets that a file names without a directory are where no other user can put anything
// in their place. Method: directories in all the states in which another user can leave them.
#include "common/dpdk/port/socket_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "common/dpdk/eal/eal_check.h"
#include "common/dpdk/eal/error.h"

namespace outrider::socket_directory_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

class SocketDirectory : public testing::Test {
 protected:
  SocketDirectory() {
    std::string made = fs::temp_directory_path() / "outrider-sockets-XXXXXX";
    if (mkdtemp(made.data()) == nullptr) throw std::runtime_error("mkdtemp");
    place_ = made;
    if (const char* runtime = std::getenv("XDG_RUNTIME_DIR")) runtime_ = runtime;
  }
  ~SocketDirectory() override {
    if (runtime_.empty()) unsetenv("XDG_RUNTIME_DIR");
    else setenv("XDG_RUNTIME_DIR", runtime_.c_str(), 1);
    fs::remove_all(place_);
  }
  static std::string refusal_of(const fs::path& path) {
    try {
      make_private_directory(path);
    } catch (const EnvironmentError& error) {
      return error.what();
    }
    return "(nothing was thrown)";
  }
  static mode_t mode_of(const fs::path& path) {
    struct stat found {};
    EXPECT_EQ(stat(path.c_str(), &found), 0);
    return found.st_mode & 07777;
  }
  fs::path place_;
  std::string runtime_;
};

TEST_F(SocketDirectory, TakesSocketsThatAreNamedWithoutOne) {
  EXPECT_EQ(with_socket_in("/run/d", "net_vhost0,iface=a.sock,client=1"),
            "net_vhost0,iface=/run/d/a.sock,client=1");
  EXPECT_EQ(with_socket_in("/run/d", "net_virtio_user1,queues=1,server=1,path=1"),
            "net_virtio_user1,queues=1,server=1,path=/run/d/1");
  for (const char* device : {"net_vhost0,iface=/tmp/a.sock,client=1", "net_vhost0,iface=./a.sock",
                             "net_virtio_user0,path=/dev/vhost-net", "net_null0", "0000:03:00.0"})
    EXPECT_EQ(with_socket_in("/run/d", device), device);
}

TEST_F(SocketDirectory, IsMadeForItsOwnerAlone) {
  setenv("XDG_RUNTIME_DIR", place_.c_str(), 1);
  const fs::path directory = place_ / "outrider";
  EXPECT_EQ(socket_directory(), directory);
  EXPECT_EQ(with_private_socket("net_null0"), "net_null0");
  EXPECT_FALSE(fs::exists(directory)) << "nobody needs it";
  EXPECT_EQ(with_private_socket("net_vhost0,iface=a.sock,client=1"),
            "net_vhost0,iface=" + (directory / "a.sock").string() + ",client=1");
  EXPECT_EQ(mode_of(directory), 0700U);
  EXPECT_NO_THROW(make_private_directory(directory)) << "the second program finds it made";

  unsetenv("XDG_RUNTIME_DIR");
  EXPECT_THAT(socket_directory(), geteuid() == 0 ? StartsWith("/run/") : StartsWith("/tmp/"));
  setenv("XDG_RUNTIME_DIR", (place_ / "absent").c_str(), 1);
  EXPECT_THAT(socket_directory(), testing::Not(HasSubstr("absent")));
}

TEST_F(SocketDirectory, IsRefusedWhereAnotherUserMayWrite) {
  const fs::path directory = place_ / "d";
  fs::create_directory(directory);
  for (const mode_t mode : {0770U, 0707U, 01777U}) {
    chmod(directory.c_str(), mode);
    EXPECT_THAT(refusal_of(directory), HasSubstr("others may write to it")) << std::oct << mode;
  }
  EXPECT_THAT(refusal_of(directory), HasSubstr("chmod 700 " + directory.string()));
  chmod(directory.c_str(), 0755);
  EXPECT_NO_THROW(make_private_directory(directory)) << "others may look";

  fs::create_directory_symlink(directory, place_ / "link");
  EXPECT_THAT(refusal_of(place_ / "link"), HasSubstr("is a symbolic link"));
  fs::create_symlink(place_ / "nowhere", place_ / "dangling");
  EXPECT_THAT(refusal_of(place_ / "dangling"), HasSubstr("is a symbolic link"));
  EXPECT_FALSE(fs::exists(place_ / "nowhere"));
  std::ofstream(place_ / "file") << "in the way";
  EXPECT_THAT(refusal_of(place_ / "file"), HasSubstr("is not a directory"));
  EXPECT_THAT(refusal_of(place_ / "absent" / "d"), HasSubstr("cannot be made"));
}

TEST_F(SocketDirectory, IsRefusedIfItBelongsToSomebodyElse) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  const fs::path directory = place_ / "d";
  fs::create_directory(directory);
  ASSERT_EQ(chown(directory.c_str(), 4711, 4711), 0);
  EXPECT_THAT(refusal_of(directory), HasSubstr("belongs to user 4711"));
}

// A directory of the user's own choice may be shared on purpose, but not with everybody.
TEST_F(SocketDirectory, OfTheUsersChoiceIsRefusedIfAnybodyMayReplaceFiles) {
  const fs::path directory = place_ / "d";
  fs::create_directory(directory);
  const std::string device = "net_vhost0,client=1,iface=" + (directory / "s").string();
  chmod(directory.c_str(), 01777);
  EXPECT_NO_THROW(check_socket(device)) << "as /tmp";
  chmod(directory.c_str(), 0777);
  EXPECT_THROW(check_socket(device), EnvironmentError);
}

}  // namespace
}  // namespace outrider::socket_directory_test
