#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace outrider::tg {

/// Detects losses without SACK: NewReno (RFC 6582) over the pipe of RFC 6675. Bytes that arrived
/// according to duplicate ACKs are taken out of the pipe ("departed"), where the RFC adds them to
/// the window. It only decides; the Scoreboard takes them out. Not thread-safe, O(1).
class NewReno {
 public:
  static constexpr std::size_t kDupThresh = 3;

  struct Verdict {
    std::uint32_t departed = 0;  ///< departed bytes after this ACK
    bool first_lost = false;     ///< the oldest segment is lost
  };

  /// The cumulative acknowledgment has moved by `acked` bytes.
  /// @param partial recovery continues, @param departed before this ACK
  [[nodiscard]] Verdict on_advance(std::uint64_t acked, bool partial, std::uint32_t departed,
                                   std::uint32_t mss) noexcept {
    duplicates_ = 0;
    if (!partial) return {};
    // A partial ACK (3.2, step 3) reduces the departed bytes by what it acknowledges, except for
    // one segment, the resent one.
    const std::uint64_t arrived = acked < mss ? acked : acked - mss;
    return {.departed =
                departed - static_cast<std::uint32_t>(std::min<std::uint64_t>(departed, arrived)),
            .first_lost = true};
  }

  /// The same data was acknowledged once more.
  /// @param recovering a recovery is under way
  /// @param fresh the data in flight left after the last recovery ended. Step 2 of 3.2 requires it,
  ///   so that segments resent in vain during a recovery start no new one.
  [[nodiscard]] Verdict on_duplicate(bool recovering, bool fresh, std::uint32_t departed,
                                     std::uint32_t mss) noexcept {
    if (duplicates_ < UINT8_MAX) ++duplicates_;
    departed += mss;
    if (recovering) return {.departed = departed};
    if (duplicates_ >= kDupThresh && fresh) return {.departed = departed, .first_lost = true};
    return {.departed = std::min(departed, 2U * mss)};  // RFC 3042
  }

 private:
  std::uint8_t duplicates_ = 0;  ///< duplicate ACKs in a row
};

}  // namespace outrider::tg
