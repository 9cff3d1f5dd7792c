#pragma once

#include <cstdint>

#include "trafficgen/roce/packet_bits.h"

namespace outrider::tg {

/// Selective repeat at the requester: which packets have arrived behind a gap, and which leaves
/// again next. Recovery begins at the first NAK and ends when everything is acknowledged that had
/// left by then. During recovery each packet that is missing before one that has arrived leaves
/// again once; after that new packets go on. A packet that is lost twice waits for a silence.
///
/// Source: Mittal et al., Revisiting network support for RDMA, SIGCOMM 2018, section 3.1 (IRN).
/// Deviations: a gap that is known and has not been sent again prolongs the recovery; after a
/// silence all packets leave again that have not been named as arrived; there is one time-out, not
/// a shorter one for few packets in flight. Nothing allocates after construction.
class SelectiveRecovery {
 public:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  /// @param window_packets 0: no selective repeat, and next() is always kNone
  explicit SelectiveRecovery(std::uint32_t window_packets) : arrived_(window_packets) {}

  /// Returns the packet that leaves again next, or kNone.
  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }
  [[nodiscard]] bool recovering() const noexcept { return recovering_; }

  /// The packet next() leaves. @pre next() != kNone
  void on_sent() noexcept {
    cursor_ = next_ + 1;
    find();
  }
  /// The peer has taken a packet behind the gap that begins at `acknowledged`.
  /// @param highest packets that have left @return true if a recovery begins
  bool on_arrived(std::uint64_t packet, std::uint64_t acknowledged, std::uint64_t highest) noexcept;
  /// All packets are sent again that are not known to have arrived.
  void resend(std::uint64_t acknowledged, std::uint64_t highest) noexcept;
  /// The same, from a peer that drops what it does not expect. @pre as resend()
  void resend_dropped(std::uint64_t acknowledged, std::uint64_t highest) noexcept;
  /// Everything before `to` is acknowledged, where it was everything before `from`.
  void on_acknowledged(std::uint64_t from, std::uint64_t to, std::uint64_t highest) noexcept;

 private:
  void forget(std::uint64_t from, std::uint64_t to) noexcept;
  void find() noexcept;

  PacketBits arrived_;
  std::uint32_t marked_ = 0;  ///< bits that are set
  bool recovering_ = false;
  std::uint64_t next_ = kNone;
  std::uint64_t cursor_ = 0;    ///< packets before it have been sent again, or need not be
  std::uint64_t lost_end_ = 0;  ///< packets before it that have not arrived count as lost
  std::uint64_t end_ = 0;       ///< of the recovery
};

}  // namespace outrider::tg
