#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <vector>

#include "trafficgen/workload/collective/scheduled/message_table.h"

namespace outrider::tg {

/// Tracks where all ranks are in a schedule, iteration by iteration. A message leaves when its
/// rank's own data may leave and all that it waits for has happened. Messages leave in the order in
/// which that happens; over a transport without order they overtake each other.
///
/// A rank may receive messages of its next iteration before it is done with this one: its peers
/// need less from it than it needs from others. It is never two iterations behind, because nobody
/// is done before everybody's data have left. So two sets of counts are enough.
///
/// Nothing allocates after construction; not thread-safe.
class ScheduleProgress {
 public:
  /// @param table outlives this
  explicit ScheduleProgress(const MessageTable& table) : table_(table), ranks_(table.ranks()) {
    waits_.fill(table.waits());
  }

  /// The rank's own data may leave. @param send is called with each message that may leave now
  template <class Send>
  void on_released(std::uint32_t rank, Send&& send) noexcept {
    Rank& r = ranks_[rank];
    assert(!r.released);
    r.released = true;
    for (const std::uint32_t message : table_.sent_by(rank))
      if (waits_[r.iteration % 2][message] == 0) leave(message, send);
  }
  /// The message has reached its receiver. @param iteration in which it was sent
  template <class Send>
  void on_received(std::uint32_t message, std::uint32_t iteration, Send&& send) noexcept {
    Rank& r = ranks_[table_.row(message).to];
    assert(iteration - r.iteration < 2);
    ++r.received[iteration % 2];
    for (const std::uint32_t next : table_.wait_for(message)) happened(next, iteration, send);
  }

  /// Returns the iteration in which a rank is.
  [[nodiscard]] std::uint32_t iteration(std::uint32_t rank) const noexcept {
    return ranks_[rank].iteration;
  }
  /// Returns true if the rank has sent and received everything.
  [[nodiscard]] bool done(std::uint32_t rank) const noexcept {
    const Rank& r = ranks_[rank];
    return r.sent == table_.sent_by(rank).size() &&
           r.received[r.iteration % 2] == table_.received_by(rank);
  }
  /// Begins the rank's next iteration. @pre done()
  void next(std::uint32_t rank) noexcept {
    Rank& r = ranks_[rank];
    const std::uint32_t set = r.iteration++ % 2;
    for (const std::uint32_t message : table_.sent_by(rank))
      waits_[set][message] = table_.waits()[message];
    r.received[set] = r.sent = 0;
    r.released = false;
  }

 private:
  struct Rank {
    std::uint32_t iteration = 0;
    std::uint32_t sent = 0;
    std::array<std::uint32_t, 2> received{};  ///< [iteration % 2]
    bool released = false;
  };

  template <class Send>
  void happened(std::uint32_t message, std::uint32_t iteration, Send&& send) noexcept {
    const Rank& r = ranks_[table_.row(message).from];
    if (--waits_[iteration % 2][message] == 0 && r.released && r.iteration == iteration)
      leave(message, send);
  }
  template <class Send>
  void leave(std::uint32_t message, Send&& send) noexcept {
    ++ranks_[table_.row(message).from].sent;
    send(message);
  }

  const MessageTable& table_;
  std::array<std::vector<std::uint32_t>, 2> waits_;  ///< [iteration % 2][messages]
  std::vector<Rank> ranks_;
};

}  // namespace outrider::tg
