#pragma once

#include <algorithm>
#include <cstdint>

#include "common/core/clock.h"
#include "common/core/units.h"

namespace outrider::tg {

/// Joins segments to bursts, as Linux does for NICs with segmentation offload (TSO): a sender that
/// may send less than a burst waits for further acknowledgments. So acknowledgments that come one
/// by one release nothing, and then many segments at once. The Flight keeps what is left of a
/// burst. Without a flight nothing waits. O(1).
///
/// Source: Linux 6.1, tcp_tso_autosize() and tcp_tso_should_defer(). Deviations: the round trip is
/// the smoothed one, not the minimum of five minutes; data that ends does not wait, while Linux's
/// may wait for half a round trip if the application could still write.
class SegmentBursts {
 public:
  /// What a sender that may send a segment knows.
  struct State {
    std::uint32_t mss_bytes = 0;
    std::uint32_t window_bytes = 0;  ///< the smaller of the congestion window and the peer's
    std::uint32_t room_bytes = 0;    ///< what of it is left, at least one segment
    std::uint64_t unsent_bytes = 0;  ///< written, and never sent
    BitRate pace{};                  ///< at which Linux would pace; 0: not known yet
    Duration srtt{};                 ///< zero: not known yet
    Duration since_last_sent{};
    Duration oldest_age{};  ///< since the oldest segment in flight left
    bool recovering = false;
  };

  /// Returns how many segments may leave at once; 0: they wait for further acknowledgments.
  [[nodiscard]] static std::uint8_t segments(const State& s) noexcept {
    const std::uint32_t burst = burst_bytes(s);
    if (waits(s, burst)) return 0;
    const auto bytes = std::min<std::uint64_t>(std::min(s.room_bytes, burst), s.unsent_bytes);
    return static_cast<std::uint8_t>(std::clamp<std::uint64_t>(bytes / s.mss_bytes, 1, UINT8_MAX));
  }

  /// Returns how much leaves at once [whole segments, in bytes]: what the pace sends in 1/1024 s,
  /// more on a short path, at least two segments and at most what a NIC takes.
  [[nodiscard]] static std::uint32_t burst_bytes(const State& s) noexcept {
    constexpr std::uint64_t kLargest_bytes = 65'536;
    std::uint64_t bytes = s.pace.bits_per_second / 8 / 1024;
    const auto halvings = static_cast<std::uint64_t>(s.srtt.count()) / 1000 / 512;
    if (halvings < 32) bytes += kLargest_bytes >> halvings;
    bytes = std::min(bytes, kLargest_bytes) / s.mss_bytes * s.mss_bytes;
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(bytes, 2U * s.mss_bytes));
  }

 private:
  [[nodiscard]] static bool waits(const State& s, std::uint32_t burst) noexcept {
    constexpr Duration kLongest = std::chrono::milliseconds(1);
    if (s.recovering || s.since_last_sent > kLongest) return false;
    if (s.room_bytes >= burst || s.room_bytes >= s.unsent_bytes) return false;
    if (s.room_bytes >= s.window_bytes / 3) return false;
    // The next acknowledgment has to be near.
    return s.oldest_age >= s.srtt / 2;
  }
};

}  // namespace outrider::tg
