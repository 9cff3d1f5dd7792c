#pragma once

#include <cstdint>

#include "common/net/tcp_segment.h"
#include "trafficgen/transport/memory/transport_memory.h"
#include "trafficgen/transport/receiver/receive_window.h"

namespace outrider::tg {

/// What a receiver has to remember beyond its next missing byte: data out of order, a
/// duplicate to report, acknowledgments of the per-packet echo that could not leave yet.
/// Borrowed from TransportMemory while there is any of these. Not thread-safe.
///
/// Sources: RFC 2018 (SACK), RFC 2883 (D-SACK), RFC 8257, 3.2 (ECN).
class OutOfOrder {
 public:
  /// Is there anything to remember? Only an ACK that travels alone can tell it.
  [[nodiscard]] bool any() const noexcept { return disorder_ != nullptr; }
  /// Nothing has arrived beyond a hole.
  [[nodiscard]] bool no_holes() const noexcept {
    return disorder_ == nullptr || disorder_->reassembly.empty();
  }
  /// End of the highest data. @pre !no_holes()
  [[nodiscard]] std::uint64_t highest() const noexcept { return disorder_->reassembly.highest(); }
  void give_back(TransportMemory& memory) noexcept;

  /// [begin, end) has arrived beyond a hole. @return kRefused if there is no room for it
  [[nodiscard]] Reassembly::Result insert(std::uint64_t begin, std::uint64_t end,
                                          TransportMemory& memory) noexcept;
  /// Everything up to `next` has arrived in order. @pre !no_holes()
  /// @return the offset up to which data is now in order
  [[nodiscard]] std::uint64_t take_in_order(std::uint64_t next, TransportMemory& memory) noexcept;

  /// A duplicate that the next ACK reports. Without memory it goes unreported. If two arrive
  /// before an ACK leaves, the first one does (RFC 2883, 4, asks for the one that brought
  /// the ACK about).
  void note_duplicate(std::uint64_t begin, std::uint64_t end, TransportMemory& memory) noexcept;
  /// Writes SACK blocks, the duplicate first (RFC 2883, 4), and forgets the duplicate.
  /// @pre any() @param limit of RFC 2018's blocks and the duplicate together
  void report(TcpSegment& s, const ReceiveWindow& window, std::size_t limit) noexcept;

  /// In-order data below `next` waits for its ACK while the per-packet echo changes: that
  /// data is acknowledged on its own, under the state it arrived with, and the NIC may be too
  /// busy to take the ACK before the next change. When more than kEarlierAcks wait, the last
  /// one covers the data, with a state that is not its own; without memory, the current ACK.
  void keep_ack(EarlierAck ack, std::uint64_t last_told, TransportMemory& memory) noexcept;
  [[nodiscard]] bool ack_kept() const noexcept { return disorder_->earlier_used != 0; }
  /// The oldest of these leaves. @pre any() && ack_kept()
  [[nodiscard]] EarlierAck take_ack(TransportMemory& memory) noexcept;

  void give_back_if_unused(TransportMemory& memory) noexcept;

 private:
  /// @return false if there is no memory for it
  bool borrow(TransportMemory& memory) noexcept;

  Disorder* disorder_ = nullptr;
};

}  // namespace outrider::tg
