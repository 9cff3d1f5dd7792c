#pragma once

#include <cstdint>

namespace outrider::tg {

/// Spreads the reduction of a window over a round trip: Proportional Rate Reduction (PRR). While
/// more is in flight than the reduced window allows, each acknowledgment lets the share through
/// that the window keeps, instead of silence followed by the old rate. If losses have taken more
/// out of flight than that, it lets as much leave as arrives, and a segment more for each
/// acknowledgment that shows progress, until the reduced window is full again.
///
/// Call begin() when the window is reduced, on_sent() for everything that leaves, and on_ack() for
/// each acknowledgment, the one that brought the reduction included. Afterwards the window is the
/// reduced one. It only decides; CongestionWindow keeps what it says. Not thread-safe, O(1).
///
/// Source: RFC 9937 (which replaces RFC 6937), section 7, with its SafeACK; Linux 6.1 does the same
/// and uses it for ECN too. Deviation: RecoverFS is what ssthresh is a share of: what was in
/// flight, at most the window before, or that window. The share is rounded up to segments, which
/// Linux counts in.
class RateReduction {
 public:
  struct Ack {
    std::uint32_t delivered_bytes = 0;  ///< DeliveredData: newly acknowledged or reported by SACK
    std::uint32_t pipe_bytes = 0;       ///< in flight after this acknowledgment
    std::uint32_t target_bytes = 0;     ///< ssthresh: the window at the end
    std::uint32_t mss_bytes = 0;
    bool safe = false;  ///< SafeACK: the oldest data was acknowledged, and no loss was found
  };

  /// @param flight_bytes RecoverFS, see above, before the acknowledgment that brings the reduction
  void begin(std::uint32_t flight_bytes) noexcept {
    flight_bytes_ = flight_bytes == 0 ? 1 : flight_bytes;
    delivered_bytes_ = 0;
    sent_bytes_ = 0;
  }
  void on_sent(std::uint32_t bytes) noexcept { sent_bytes_ += bytes; }
  /// @param window_bytes as this function returned it last
  /// @return the window until the next acknowledgment
  [[nodiscard]] std::uint32_t on_ack(const Ack& ack, std::uint32_t window_bytes) noexcept;

 private:
  std::uint32_t flight_bytes_ = 1;     ///< RecoverFS
  std::uint32_t delivered_bytes_ = 0;  ///< prr_delivered
  std::uint32_t sent_bytes_ = 0;       ///< prr_out
};

}  // namespace outrider::tg
