#pragma once

#include <cstdint>

namespace outrider::tg {

/// Decides which ECE flag a receiver's ACKs carry.
///
/// Latched mode (RFC 3168, section 6.1.3): ECE is set from a CE until a segment with CWR; a CE on
/// the segment that carries CWR sets it again. Per-packet mode (RFC 8257, section 3.2): ECE is set
/// if the last data segment carried CE, and CWR is ignored.
class EcnEcho {
 public:
  explicit constexpr EcnEcho(bool per_packet) noexcept : per_packet_(per_packet) {}

  /// Enables the echo once ECN was negotiated.
  constexpr void enable() noexcept { enabled_ = true; }

  /// Returns true if an ACK must leave at once because the per-packet state changes. The caller
  /// first acknowledges the earlier data under the old ece().
  [[nodiscard]] constexpr bool changes(bool ce) const noexcept {
    return enabled_ && per_packet_ && ce != ece_;
  }

  constexpr void on_data(bool ce, bool cwr) noexcept {
    if (!enabled_) return;
    if (per_packet_ || cwr) ece_ = ce;
    else ece_ = ece_ || ce;
  }

  [[nodiscard]] constexpr bool ece() const noexcept { return ece_; }

 private:
  bool per_packet_ : 1;
  bool enabled_ : 1 = false;
  bool ece_ : 1 = false;
};

}  // namespace outrider::tg
