#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "common/core/clock.h"
#include "common/regulation/period_predictor.h"

namespace outrider::agent {

/// Decides when a worker's bursts are announced: at the first byte, or `lead` ahead of it
/// once the period of the flow is known. It is told of onsets (the first payload after a
/// pause) and never asks; it sends nothing itself.
///
/// A burst that was announced ahead of time is not announced again when it comes. One that
/// was and does not come is forgotten by the switch when its entry expires; the next has a
/// number of its own. Iterations count a flow's announcements.
///
/// Flows are numbers of the caller's, who forgets those that have ended. `now` does not
/// decrease. Allocates when a flow is new; not thread-safe.
class BurstAnnouncer {
 public:
  struct Params {
    Duration lead{};  ///< >= 0; zero: at the first byte alone
    PeriodPredictor::Params predictor{};
  };
  struct Announcement {
    std::uint64_t flow = 0;
    std::uint32_t iteration = 0;  ///< of the burst, from 0
    Duration due_in{};            ///< zero: it has begun
    bool predicted = false;
  };
  struct Counters {
    std::uint64_t onsets = 0;
    std::uint64_t at_first_byte = 0;  ///< announcements
    std::uint64_t ahead = 0;          ///< announcements
    std::uint64_t met = 0;            ///< of those ahead: the burst came
  };

  explicit BurstAnnouncer(const Params& params);

  /// @param at when the first byte left; at most now
  [[nodiscard]] std::optional<Announcement> on_onset(std::uint64_t flow, Time at, Time now);
  /// The next announcement that is due; ask until there is none.
  [[nodiscard]] std::optional<Announcement> take(Time now);
  /// The flow will not be announced again, unless it has an onset: then it is a new one.
  void forget(std::uint64_t flow);
  /// When take() is to be asked again, unless an onset comes.
  [[nodiscard]] Time wake_at() const noexcept { return predictor_.next_take(params_.lead); }

  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }
  [[nodiscard]] const PeriodPredictor::Counters& predictions() const noexcept {
    return predictor_.counters();
  }

 private:
  struct Flow {
    std::uint32_t announcements = 0;
    bool expected = false;  ///< announced ahead, and not come yet
  };

  Params params_;
  PeriodPredictor predictor_;
  std::map<std::uint64_t, Flow> flows_;
  Counters counters_;
};

}  // namespace outrider::agent
