// Goal: a peer that is no use gives up its place at a socket, and one that is of use keeps it.
// Method: sockets of this process stand for the driver's, and calls for time.
#include "common/dpdk/port/peer_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace outrider::peer_watch_test {
namespace {

class PeerWatches : public testing::Test {
 protected:
  PeerWatches() {
    listener_ = opened();
    const sockaddr_un address = name();
    if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener_, 4) != 0)
      throw std::runtime_error("bind");
  }
  ~PeerWatches() override {
    for (const int fd : all_) close(fd);
    std::filesystem::remove_all(place_);
  }

  static std::string made() {
    std::string path = std::filesystem::temp_directory_path() / "outrider-peers-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("mkdtemp");
    return path;
  }
  int opened() {
    all_.push_back(socket(AF_UNIX, SOCK_STREAM, 0));
    return all_.back();
  }
  sockaddr_un name() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path().c_str(), sizeof address.sun_path - 1);
    return address;
  }
  std::string path() const { return place_ / "s"; }
  int connected() {
    const int fd = opened();
    const sockaddr_un address = name();
    EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  int accepted() {
    all_.push_back(accept(listener_, nullptr, nullptr));
    return all_.back();
  }
  /// Returns whether the watch hung up in one of so many checks.
  bool hangs_up(std::uint32_t checks, bool up) {
    bool any = false;
    for (std::uint32_t i = 0; i < checks; ++i) any |= watch_.check(up, 1);
    return any;
  }
  /// Returns what recv() says of a connection without waiting: 0 if the other side hung up.
  static ssize_t read_of(int fd) {
    char byte = 0;
    return recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
  }
  /// Returns whether the other side hung up, whatever it said before.
  static bool hung_up(int fd) {
    std::array<char, 256> said{};
    ssize_t bytes = 0;
    while ((bytes = recv(fd, said.data(), said.size(), MSG_DONTWAIT)) > 0) {
    }
    return bytes == 0;
  }

  std::filesystem::path place_ = made();
  std::vector<int> all_;
  int listener_ = -1;
  PeerWatch watch_{path()};
};

TEST_F(PeerWatches, NobodyIsNoConcern) {
  EXPECT_FALSE(hangs_up(3 * PeerWatch::kPatience, false));
  connected();  // the driver has not taken it
  EXPECT_FALSE(hangs_up(3 * PeerWatch::kPatience, false));
}

TEST_F(PeerWatches, HangsUpOnAPeerWithoutALinkOnce) {
  const int peer = connected();
  const int driver = accepted();
  ASSERT_EQ(send(peer, "garbage", 7, 0), 7);
  EXPECT_FALSE(hangs_up(PeerWatch::kPatience - 1, false));
  EXPECT_EQ(read_of(peer), -1) << "still connected";
  EXPECT_TRUE(hangs_up(1, false));
  EXPECT_EQ(read_of(peer), 0);
  EXPECT_EQ(read_of(driver), 0) << "the driver finds the end, and no garbage";
  EXPECT_FALSE(hangs_up(3 * PeerWatch::kPatience, false)) << "said once";
}

TEST_F(PeerWatches, LeavesAPeerThatServesAlone) {
  const int peer = connected();
  accepted();
  EXPECT_FALSE(hangs_up(PeerWatch::kPatience - 1, false));
  EXPECT_FALSE(hangs_up(1, true));
  connected();  // a stranger who has to wait
  EXPECT_FALSE(hangs_up(3 * PeerWatch::kPatience, true));
  EXPECT_FALSE(hangs_up(3 * PeerWatch::kPatience, false)) << "DPDK closes it";
  EXPECT_FALSE(hung_up(peer));
}

// After a peer that went at a bad moment DPDK leaves the rings of all later ones disabled.
TEST_F(PeerWatches, AsksAPeerThatServesToEnableItsRingsOnce) {
  const int peer = connected();
  accepted();
  EXPECT_FALSE(watch_.check(true, 2));
  EXPECT_EQ(read_of(peer), -1) << "the driver may still be greeting it";
  EXPECT_FALSE(watch_.check(true, 2));
  for (std::uint32_t ring = 0; ring < 4; ++ring) {
    std::array<std::uint32_t, 5> message{};
    ASSERT_EQ(recv(peer, message.data(), sizeof message, MSG_DONTWAIT), ssize_t{sizeof message});
    EXPECT_THAT(message, testing::ElementsAre(18, 1, 8, ring, 1));
  }
  EXPECT_FALSE(hangs_up(3 * PeerWatch::kPatience, true));
  EXPECT_EQ(read_of(peer), -1);
}

TEST_F(PeerWatches, DoesNotBelieveALinkWhileTheNextPeerWaits) {
  const int peer = connected();
  accepted();
  connected();
  EXPECT_TRUE(hangs_up(PeerWatch::kPatience, true));
  EXPECT_EQ(read_of(peer), 0);
}

TEST_F(PeerWatches, GivesEachPeerItsTime) {
  connected();
  const int driver = accepted();
  EXPECT_TRUE(hangs_up(PeerWatch::kPatience, false));
  close(driver);
  std::erase(all_, driver);
  EXPECT_FALSE(hangs_up(1, false));
  const int next = connected();
  accepted();
  EXPECT_FALSE(hangs_up(PeerWatch::kPatience - 1, false));
  EXPECT_TRUE(hangs_up(1, false));
  EXPECT_EQ(read_of(next), 0);
}

}  // namespace
}  // namespace outrider::peer_watch_test
