#pragma once

#include <algorithm>
#include <cstdint>

#include "common/core/clock.h"
#include "switch/regulation/windows/told_windows.h"
#include "switch/regulation/windows/window_path.h"

namespace outrider {

/// Sums up bytes in flight and windows told of the flows that answer, in rounds of kRound_rtts mean
/// round trips, and averages their times. Each flow counts once in a round. O(1). Not thread-safe.
class FlowRounds {
 public:
  /// Takes over an answer of a flow whose round trip is `own_rtt_ns`, without queueing.
  /// @param standing  whether windows stand: then the flow's flight is that of its own accord
  /// @return whether it is the flow's first in this round. add_told() has to follow then
  [[nodiscard]] bool note(WindowFlow& f, double own_rtt_ns, bool standing, Time now) noexcept {
    const auto up = static_cast<double>(f.up->count());
    up_ns_ = rtt_ns_ == 0 ? up : up_ns_ + kRttSmoothing * (up - up_ns_);
    rtt_ns_ = rtt_ns_ == 0 ? own_rtt_ns : rtt_ns_ + kRttSmoothing * (own_rtt_ns - rtt_ns_);
    if (const Duration round = round_trips(kRound_rtts, rtt_ns_); now - began_ >= round)
        [[unlikely]]
      turn(now - began_ < 2 * round, now);
    if (standing) f.roll(now, round_trips(kEpoch_rtts, own_rtt_ns));
    if (f.summed_round == round_) return false;
    f.summed_round = round_;
    weight_now_ += f.largest_flight();
    return true;
  }
  /// Adds what the flow was told. Arguments are those of ToldWindows::add().
  void add_told(double window_bytes, double of_frame, double of_rtt_ns) noexcept {
    told_now_.add(window_bytes, of_frame, of_rtt_ns);
  }

  /// Returns the sum of the flows' largest flights, at least 1 [bytes].
  [[nodiscard]] double weights() const noexcept {
    return std::max({weight_last_, weight_now_, 1.0});
  }
  /// Returns what the flows that have answered lately were told.
  [[nodiscard]] ToldWindows told(Time now) const noexcept {
    if (now - began_ >= round_trips(2 * kRound_rtts, rtt_ns_)) return {};
    return told_last_.queue_bytes > told_now_.queue_bytes ? told_last_ : told_now_;
  }
  /// Return times without queueing, smoothed over the answers of all flows; 0: not known yet.
  [[nodiscard]] double rtt_ns() const noexcept { return rtt_ns_; }
  [[nodiscard]] double up_ns() const noexcept { return up_ns_; }

 private:
  /// The peak of a saw-tooth must not be forgotten at once, nor be kept forever.
  static constexpr double kEpoch_rtts = 8;
  /// Held flows answer once per round trip, queueing included.
  static constexpr double kRound_rtts = 4;
  static constexpr double kRttSmoothing = 1.0 / 16;

  /// Begins a round. @param is_next  whether the one before has just ended
  void turn(bool is_next, Time now) noexcept {
    weight_last_ = is_next ? weight_now_ : 0;
    weight_now_ = 0;
    told_last_ = is_next ? told_now_ : ToldWindows{};
    told_now_ = {};
    began_ = now;
    ++round_;
  }

  double rtt_ns_ = 0, up_ns_ = 0;
  Time began_{};
  std::uint32_t round_ = 1;
  double weight_last_ = 0, weight_now_ = 0;  ///< of the last round and of this one [bytes]
  ToldWindows told_last_, told_now_;         ///< of the same flows
};

}  // namespace outrider
