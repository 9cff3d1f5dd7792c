// Goal: a service manager that waits for it hears that a process is ready, and a process without
// one says nothing. Method: sockets of either kind of name, as systemd makes them.
#include "common/telemetry/service_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace outrider::service_manager_test {
namespace {

class ServiceManager : public testing::Test {
 protected:
  ~ServiceManager() override {
    unsetenv("NOTIFY_SOCKET");
    if (fd_ >= 0) close(fd_);
    unlink(path_.c_str());
  }

  void listen_at(const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, name.size());
    if (name.front() == '@') address.sun_path[0] = '\0';
    fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    ASSERT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&address), bytes), 0);
    setenv("NOTIFY_SOCKET", name.c_str(), 1);
  }

  std::string heard() const {
    std::array<char, 64> text{};
    const ssize_t n = recv(fd_, text.data(), text.size(), 0);
    return n < 0 ? "nothing" : std::string(text.data(), static_cast<std::size_t>(n));
  }

  std::string path_ = testing::TempDir() + "ready-" + std::to_string(getpid());

 private:
  int fd_ = -1;
};

TEST_F(ServiceManager, HearsAtASocketInTheFileSystem) {
  listen_at(path_);
  EXPECT_EQ(tell_ready(), "");
  EXPECT_EQ(heard(), "READY=1");
}

TEST_F(ServiceManager, HearsAtAnAbstractSocket) {
  listen_at("@ready-" + std::to_string(getpid()));
  EXPECT_EQ(tell_ready(), "");
  EXPECT_EQ(heard(), "READY=1");
}

TEST_F(ServiceManager, IsNotToldWhereThereIsNone) {
  unsetenv("NOTIFY_SOCKET");
  EXPECT_EQ(tell_ready(), "");
  setenv("NOTIFY_SOCKET", "", 1);
  EXPECT_EQ(tell_ready(), "");
}

TEST_F(ServiceManager, ThatCannotBeReachedIsNamed) {
  setenv("NOTIFY_SOCKET", "/nowhere/notify", 1);
  EXPECT_THAT(tell_ready(), testing::AllOf(testing::HasSubstr("/nowhere/notify"),
                                           testing::HasSubstr("No such file")));
  setenv("NOTIFY_SOCKET", std::string(200, 'x').c_str(), 1);
  EXPECT_THAT(tell_ready(), testing::HasSubstr("File name too long"));
}

}  // namespace
}  // namespace outrider::service_manager_test
