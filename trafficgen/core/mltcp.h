#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace outrider::tg {

/// MLTCP (Rajasekaran et al., arXiv 2402.09589; HotNets 2024): a connection's window or rate grows
/// the faster, the more of an iteration's bytes it has sent. Of two jobs on a link, the one that is
/// ahead gets more of it, and is further ahead in the next iteration: their bursts slide apart.
///
/// From the paper: F is linear in the share of the iteration's bytes, its values are called slope
/// and intercept, and it scales the growth of Reno, CUBIC and DCQCN. A simulator that one of its
/// authors published has the share of acknowledged bytes, scales Reno's additive increase, and not
/// its slow start. Our reading: the two values below, which we have not found in the paper's text
/// (that simulator has a slope of 4); what F scales in CUBIC and DCQCN, see there; and that
/// DCQCN's hyper increase is scaled like its additive one.
///
/// Deviation: the paper finds where an iteration begins by gaps between ACKs, and learns or is told
/// its bytes. Here the sender knows its burst, so that the share is exact. Pushes and pulls have
/// two senders, each with the share of its own burst.
inline constexpr double kMltcpSlope = 1.75;
inline constexpr double kMltcpIntercept = 0.25;

/// Returns F. @param share of the burst's bytes that is acknowledged, in [0, 1]
[[nodiscard]] constexpr double mltcp_factor(double share) noexcept {
  return kMltcpSlope * share + kMltcpIntercept;
}

/// The factor by which a controller grows: 1 without MLTCP. It is kept in 64ths, in one byte,
/// because the state of CUBIC has no room for more.
class MltcpGrowth {
 public:
  void note_share(double share) noexcept {
    sixty_fourths_ = static_cast<std::uint8_t>(std::lround(kOne * mltcp_factor(share)));
  }
  /// Returns an increase, scaled.
  [[nodiscard]] double of(double increase) const noexcept {
    return increase * sixty_fourths_ / kOne;
  }

 private:
  static constexpr std::uint8_t kOne = 64;
  static_assert(mltcp_factor(0) >= 0 && kOne * mltcp_factor(1) < 255, "fits a byte");

  std::uint8_t sixty_fourths_ = kOne;
};

/// A burst within the bytes that a sender has ever been given.
struct BurstExtent {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;

  /// Returns the share of it that is acknowledged. @param acked of all that the sender was given
  [[nodiscard]] double share(std::uint64_t acked) const noexcept {
    const std::uint64_t done = acked - std::min(acked, begin);
    return bytes == 0 ? 0 : static_cast<double>(std::min(done, bytes)) / static_cast<double>(bytes);
  }
};

}  // namespace outrider::tg
