#include "common/dpdk/port/peer_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

namespace outrider {
namespace {

/// A descriptor of our own for a file of the driver's. The driver may close its descriptor at any
/// time, and another file may get the number.
class OwnDescriptor {
 public:
  OwnDescriptor() = default;
  explicit OwnDescriptor(int of) noexcept : fd_(fcntl(of, F_DUPFD_CLOEXEC, 0)) {}
  OwnDescriptor(OwnDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnDescriptor& operator=(OwnDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~OwnDescriptor() {
    if (fd_ >= 0) close(fd_);
  }

  [[nodiscard]] int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

bool is_bound_to(int fd, std::string_view path) noexcept {
  sockaddr_un address{};
  socklen_t size = sizeof address;
  return getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
         address.sun_family == AF_UNIX && size > offsetof(sockaddr_un, sun_path) &&
         path == address.sun_path;
}

struct Ends {
  OwnDescriptor listener{};
  OwnDescriptor peer{};  ///< connection that was accepted
};

/// Finds the descriptors of this process that belong to the socket. An accepted connection has the
/// name of its listener.
Ends ends_of(std::string_view path) {
  Ends ends;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", gone)) {
    const int number = std::atoi(entry.path().filename().c_str());
    if (!is_bound_to(number, path)) continue;
    OwnDescriptor own(number);
    if (!own || !is_bound_to(own.get(), path)) continue;
    int listens = 0;
    socklen_t size = sizeof listens;
    if (getsockopt(own.get(), SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0) continue;
    (listens != 0 ? ends.listener : ends.peer) = std::move(own);
  }
  return ends;
}

bool has_news(const OwnDescriptor& socket) noexcept {
  pollfd asked{.fd = socket.get(), .events = POLLIN, .revents = 0};
  return socket && poll(&asked, 1, 0) > 0;
}

/// Ends the connection for both sides. The driver looks whether there is something to read: only
/// without it does it notice the end.
void hang_up(const OwnDescriptor& peer) noexcept {
  shutdown(peer.get(), SHUT_RDWR);
  std::array<char, 4096> unread{};
  while (recv(peer.get(), unread.data(), unread.size(), MSG_DONTWAIT) > 0) {
  }
}

/// The message of vhost-user, in the byte order of the machine.
struct SetVringEnable {
  std::uint32_t request = 18;
  std::uint32_t flags = 1;  ///< version 1, no reply
  std::uint32_t payload_bytes = 8;
  std::uint32_t ring = 0;
  std::uint32_t enable = 1;
};
static_assert(sizeof(SetVringEnable) == 20);

/// The driver's own messages stay whole: a stream socket takes one of this size in one piece.
void enable_rings(const OwnDescriptor& peer, std::uint32_t rings) noexcept {
  for (std::uint32_t ring = 0; ring < rings; ++ring) {
    const SetVringEnable message{.ring = ring};
    // Who cannot take 20 bytes, or has gone, is not served any worse than before.
    std::ignore = send(peer.get(), &message, sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
}

}  // namespace

bool PeerWatch::check(bool up, std::uint16_t queue_pairs) {
  const Ends ends = ends_of(socket_);
  struct stat status {};
  if (!ends.peer || fstat(ends.peer.get(), &status) != 0) {
    connection_ = 0;
    return false;
  }
  if (status.st_ino != connection_) {
    connection_ = status.st_ino;
    checks_ = 0;
    peer_ = Peer::kNew;
  }
  if (peer_ == Peer::kServes) {
    enable_rings(ends.peer, 2 * std::uint32_t{queue_pairs});
    peer_ = Peer::kAsked;
  }
  if (peer_ != Peer::kNew) return false;
  if (up && !has_news(ends.listener)) peer_ = Peer::kServes;
  if (peer_ == Peer::kServes || ++checks_ < kPatience) return false;
  hang_up(ends.peer);
  peer_ = Peer::kLeft;
  return true;
}

}  // namespace outrider
