#pragma once

#include <cstdint>

#include "common/net/tcp_segment.h"
#include "trafficgen/transport/memory/transport_memory.h"
#include "trafficgen/transport/receiver/receive_window.h"

namespace outrider::tg {

/// Remembers what a receiver needs beyond its next missing byte: data out of order, a duplicate to
/// report, and acknowledgments of the per-packet echo that could not leave yet. Borrows memory from
/// TransportMemory while there is any of these. Not thread-safe.
///
/// Sources: RFC 2018 (SACK), RFC 2883 (D-SACK), RFC 8257, 3.2 (ECN).
class OutOfOrder {
 public:
  /// Returns true if there is something to remember. Only a pure ACK can report it.
  [[nodiscard]] bool any() const noexcept { return disorder_ != nullptr; }
  /// Returns true if nothing has arrived beyond a hole.
  [[nodiscard]] bool no_holes() const noexcept {
    return disorder_ == nullptr || disorder_->reassembly.empty();
  }
  /// Returns the end of the highest data. @pre !no_holes()
  [[nodiscard]] std::uint64_t highest() const noexcept { return disorder_->reassembly.highest(); }
  void give_back(TransportMemory& memory) noexcept;

  /// Adds [begin, end), which arrived beyond a hole. @return kRefused if there is no room for it
  [[nodiscard]] Reassembly::Result insert(std::uint64_t begin, std::uint64_t end,
                                          TransportMemory& memory) noexcept;
  /// Removes what is in order now that everything up to `next` has arrived. @pre !no_holes()
  /// @return the offset up to which data is now in order
  [[nodiscard]] std::uint64_t take_in_order(std::uint64_t next, TransportMemory& memory) noexcept;

  /// Notes a duplicate, which the next ACK reports. Without memory it goes unreported. If two
  /// arrive before an ACK leaves, the first one is reported (RFC 2883, 4, asks for the one that
  /// caused the ACK).
  void note_duplicate(std::uint64_t begin, std::uint64_t end, TransportMemory& memory) noexcept;
  /// Writes SACK blocks, the duplicate first (RFC 2883, 4), and forgets the duplicate.
  /// @pre any() @param limit largest number of blocks, the duplicate included
  void report(TcpSegment& s, const ReceiveWindow& window, std::size_t limit) noexcept;

  /// Keeps an ACK for later, when the state of the per-packet echo changes while in-order data
  /// below `next` is unacknowledged. That data is acknowledged separately, with the state at its
  /// arrival, and the NIC may be too busy to take the ACK before the next change. If more than
  /// kEarlierAcks wait, the last one covers the data, with a state that is not the data's; without
  /// memory, the current ACK does.
  void keep_ack(EarlierAck ack, std::uint64_t last_told, TransportMemory& memory) noexcept;
  [[nodiscard]] bool ack_kept() const noexcept { return disorder_->earlier_used != 0; }
  /// Removes the oldest kept ACK, which leaves now. @pre any() && ack_kept()
  [[nodiscard]] EarlierAck take_ack(TransportMemory& memory) noexcept;

  void give_back_if_unused(TransportMemory& memory) noexcept;

 private:
  /// @return false if there is no memory for it
  bool borrow(TransportMemory& memory) noexcept;

  Disorder* disorder_ = nullptr;
};

}  // namespace outrider::tg
