#include "tools/lab/ranks/socket_peers.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace outrider::lab {
namespace {

[[noreturn]] void gone(std::uint32_t rank) {
  throw PeerGone("rank " + std::to_string(rank) + " has ended");
}

/// @return bytes, 0 if none can be moved now
std::size_t moved(ssize_t result, std::uint32_t rank) {
  if (result > 0) return static_cast<std::size_t>(result);
  if (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return 0;
  gone(rank);
}

}  // namespace

SocketPeers::SocketPeers(std::uint32_t rank, std::vector<int> sockets)
    : rank_(rank),
      sockets_(std::move(sockets)),
      lanes_(sockets_.size()),
      nothing_(sockets_.size()),
      unused_(sockets_.size()) {}

SocketPeers::~SocketPeers() {
  for (const int socket : sockets_)
    if (socket >= 0) close(socket);
}

/// Sends what is left of a message: its head and its text in one call.
void SocketPeers::write_some(std::uint32_t to, const std::string& text) {
  Lane& lane = lanes_[to];
  const std::size_t of_head = std::min(lane.sent, sizeof(Head)), of_text = lane.sent - of_head;
  std::array<iovec, 2> parts{
      iovec{reinterpret_cast<char*>(&lane.out) + of_head, sizeof(Head) - of_head},
      iovec{const_cast<char*>(text.data()) + of_text, text.size() - of_text}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  lane.sent += moved(sendmsg(sockets_[to], &message, MSG_NOSIGNAL | MSG_DONTWAIT), to);
}

/// Reads what has come of a message, and nothing of the next one.
void SocketPeers::read_some(std::uint32_t from, std::string& text) {
  Lane& lane = lanes_[from];
  if (lane.got < sizeof(Head)) {
    lane.got += moved(recv(sockets_[from], reinterpret_cast<char*>(&lane.in) + lane.got,
                           sizeof(Head) - lane.got, MSG_DONTWAIT),
                      from);
    if (lane.got < sizeof(Head)) return;
    text.resize(lane.in.bytes);
  }
  const std::size_t at = lane.got - sizeof(Head);
  if (at == text.size()) return;
  lane.got += moved(recv(sockets_[from], text.data() + at, text.size() - at, MSG_DONTWAIT), from);
}

/// Waits until some lane can move. @return false if all are done
bool SocketPeers::wait_for_any() {
  std::array<pollfd, 64> inline_room;
  std::vector<pollfd> more(sockets_.size() > inline_room.size() ? sockets_.size() : 0);
  pollfd* const waiting = more.empty() ? inline_room.data() : more.data();
  nfds_t n = 0;
  for (std::uint32_t r = 0; r < size(); ++r) {
    if (r == rank_ || (lanes_[r].sent_all() && lanes_[r].got_all())) continue;
    const int events = (lanes_[r].sent_all() ? 0 : POLLOUT) | (lanes_[r].got_all() ? 0 : POLLIN);
    waiting[n++] = {sockets_[r], static_cast<short>(events), 0};
  }
  if (n == 0) return false;
  poll(waiting, n, -1);
  return true;
}

std::int64_t SocketPeers::round(std::span<const std::string> send, std::int64_t mine,
                                std::vector<std::string>& received) {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  received.resize(size());
  for (auto& text : received) text.clear();
  for (std::uint32_t r = 0; r < size(); ++r) lanes_[r] = {.out = {mine, send[r].size()}};
  do {
    for (std::uint32_t r = 0; r < size(); ++r) {
      if (r == rank_) continue;
      if (!lanes_[r].sent_all()) write_some(r, send[r]);
      if (!lanes_[r].got_all()) read_some(r, received[r]);
    }
  } while (wait_for_any());
  std::int64_t least = mine;
  for (std::uint32_t r = 0; r < size(); ++r) {
    if (r == rank_) continue;
    least = std::min(least, lanes_[r].in.number);
    costs_.sent_bytes += send[r].size();
  }
  ++costs_.rounds;
  costs_.seconds_waited += std::chrono::duration<double>(Clock::now() - began).count();
  return least;
}

std::int64_t SocketPeers::exchange(std::span<const std::string> send, const std::vector<bool>&,
                                   std::int64_t mine, std::vector<std::string>& received) {
  return round(send, mine, received);
}

std::int64_t SocketPeers::least(std::int64_t mine) { return round(nothing_, mine, unused_); }

std::vector<std::string> SocketPeers::gather(const std::string& mine) {
  std::vector<std::string> send(size()), received;
  if (rank_ != 0) send[0] = mine;
  round(send, 0, received);
  if (rank_ != 0) return {};
  received[0] = mine;
  return received;
}

}  // namespace outrider::lab
