#include "tools/lab/ranks/shared_peers.h"

#include <algorithm>
#include <chrono>

namespace outrider::lab {

SharedPeers::SharedPeers(std::uint32_t rank, SharedLanes& lanes, std::uint32_t spins)
    : rank_(rank),
      lanes_(lanes),
      spins_(spins),
      messages_(lanes.ranks()),
      nothing_(lanes.ranks()),
      unused_(lanes.ranks()) {}

/// Sends what there is room for: of the head, then of the text.
void SharedPeers::write_some(std::uint32_t to, const std::string& text) {
  Message& m = messages_[to];
  if (m.sent < sizeof(Head)) {
    m.sent += lanes_.write(rank_, to, std::as_bytes(std::span(&m.out, 1)).subspan(m.sent));
    if (m.sent < sizeof(Head)) return;
  }
  if (m.sent_all()) return;
  m.sent += lanes_.write(rank_, to, std::as_bytes(std::span(text)).subspan(m.sent - sizeof(Head)));
}

/// Reads what has come of a message, and nothing of the next one.
void SharedPeers::read_some(std::uint32_t from, std::string& text) {
  Message& m = messages_[from];
  if (m.got < sizeof(Head)) {
    m.got += lanes_.read(from, rank_, std::as_writable_bytes(std::span(&m.in, 1)).subspan(m.got));
    if (m.got < sizeof(Head)) return;
    text.resize(m.in.bytes);
  }
  if (m.got_all()) return;
  m.got += lanes_.read(from, rank_,
                       std::as_writable_bytes(std::span(text)).subspan(m.got - sizeof(Head)));
}

bool SharedPeers::all_done() const noexcept {
  for (std::uint32_t r = 0; r < size(); ++r)
    if (r != rank_ && !messages_[r].done()) return false;
  return true;
}

bool SharedPeers::can_move(std::uint32_t peer) const noexcept {
  const Message& m = messages_[peer];
  return (!m.sent_all() && lanes_.can_write(rank_, peer)) ||
         (!m.got_all() && lanes_.can_read(peer, rank_));
}

/// Waits until some message can move. @throws PeerGone if one never will
void SharedPeers::wait_for_any() {
  std::uint32_t gone = rank_;
  lanes_.wait(rank_, spins_, [&] {
    for (std::uint32_t r = 0; r < size(); ++r) {
      if (r == rank_ || messages_[r].done()) continue;
      // In this order: a rank writes its last words before it ends.
      const bool ended = lanes_.ended(r);
      if (can_move(r)) return true;
      if (ended) gone = r;
    }
    return gone != rank_;
  });
  if (gone != rank_) throw PeerGone("rank " + std::to_string(gone) + " has ended");
}

std::int64_t SharedPeers::round(std::span<const std::string> send, std::int64_t mine,
                                std::vector<std::string>& received) {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  received.resize(size());
  for (auto& text : received) text.clear();
  for (std::uint32_t r = 0; r < size(); ++r) messages_[r] = {.out = {mine, send[r].size()}};
  while (true) {
    for (std::uint32_t r = 0; r < size(); ++r) {
      if (r == rank_) continue;
      if (!messages_[r].sent_all()) write_some(r, send[r]);
      if (!messages_[r].got_all()) read_some(r, received[r]);
    }
    if (all_done()) break;
    wait_for_any();
  }
  std::int64_t least = mine;
  for (std::uint32_t r = 0; r < size(); ++r) {
    if (r == rank_) continue;
    least = std::min(least, messages_[r].in.number);
    costs_.sent_bytes += send[r].size();
  }
  ++costs_.rounds;
  costs_.seconds_waited += std::chrono::duration<double>(Clock::now() - began).count();
  return least;
}

std::int64_t SharedPeers::exchange(std::span<const std::string> send, const std::vector<bool>&,
                                   std::int64_t mine, std::vector<std::string>& received) {
  return round(send, mine, received);
}

std::int64_t SharedPeers::least(std::int64_t mine) { return round(nothing_, mine, unused_); }

std::vector<std::string> SharedPeers::gather(const std::string& mine) {
  std::vector<std::string> send(size()), received;
  if (rank_ != 0) send[0] = mine;
  round(send, 0, received);
  if (rank_ != 0) return {};
  received[0] = mine;
  return received;
}

}  // namespace outrider::lab
