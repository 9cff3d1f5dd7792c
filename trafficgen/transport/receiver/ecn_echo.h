#pragma once

#include <cstdint>

namespace outrider::tg {

/// The receiver's side of ECN: which ECE its ACKs carry.
///
/// Latched (RFC 3168, section 6.1.3): from a CE until a segment with CWR; a CE
/// on the segment that carries CWR latches again. Per packet (RFC 8257, section
/// 3.2): ECE is whether the last data segment carried CE; CWR means nothing.
class EcnEcho {
 public:
  explicit constexpr EcnEcho(bool per_packet) noexcept : per_packet_(per_packet) {}

  /// ECN was negotiated; before, nothing is echoed.
  constexpr void enable() noexcept { enabled_ = true; }

  /// @return must an ACK leave at once, because the per-packet state changes?
  ///         The caller first settles what is unacknowledged under the old ece().
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
