#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "common/core/clock.h"
#include "switch/regulation/regulator/period_predictor.h"

namespace outrider::agent {

/// Decides when a worker's bursts are announced: at the first byte, or `lead` before it once
/// the period of the flow is known. The caller reports onsets (the first payload after a pause)
/// and sends the announcements.
///
/// A burst that was announced ahead of time is not announced again when it comes. If it does
/// not come, the switch forgets it when its entry expires, and the next announcement gets the
/// next number: iterations count a flow's announcements.
///
/// The caller numbers the flows, and calls forget() for those that have ended. `now` does not
/// decrease. Allocates when a flow is new. Not thread-safe.
class BurstAnnouncer {
 public:
  struct Params {
    Duration lead{};  ///< >= 0; zero: announce only at the first byte
    /// take_lead() sets the lead, to at most this, >= lead. Absent: it is fixed.
    std::optional<Duration> lead_limit{};
    PeriodPredictor::Params predictor{};
  };
  struct Announcement {
    std::uint64_t flow = 0;
    std::uint32_t iteration = 0;  ///< number of the announcement in its flow, from 0
    Duration due_in{};            ///< time until the burst begins; zero: it has begun
    bool predicted = false;
  };
  struct Counters {
    std::uint64_t onsets = 0;
    std::uint64_t at_first_byte = 0;  ///< announcements at the first byte
    std::uint64_t ahead = 0;          ///< announcements ahead of the burst
    std::uint64_t met = 0;            ///< announcements ahead whose burst came
  };

  explicit BurstAnnouncer(const Params& params);

  /// Reports an onset. Returns the announcement to send, or nothing if the burst was announced
  /// ahead. @param at  when the first byte left, at most `now`
  [[nodiscard]] std::optional<Announcement> on_onset(std::uint64_t flow, Time at, Time now);
  /// Returns the next announcement that is due ahead of its burst. Call it until there is none.
  [[nodiscard]] std::optional<Announcement> take(Time now);
  /// Takes over the lead that a switch has told, for announcements from now on. It stays from
  /// Params::lead to `lead_limit`, because anybody who can answer in a switch's place can tell one.
  /// @return whether it is followed
  bool take_lead(Duration told) noexcept;
  [[nodiscard]] Duration lead() const noexcept { return lead_; }
  /// Forgets a flow. It is not announced again until it has an onset, which makes it a new flow.
  void forget(std::uint64_t flow);
  /// Returns when take() must be called next, if no onset comes before.
  [[nodiscard]] Time wake_at() const noexcept { return predictor_.next_take(lead_); }

  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }
  [[nodiscard]] const PeriodPredictor::Counters& predictions() const noexcept {
    return predictor_.counters();
  }

 private:
  struct Flow {
    std::uint32_t announcements = 0;
    bool expected = false;  ///< a burst was announced ahead and has not come yet
  };

  Params params_;
  Duration lead_;
  PeriodPredictor predictor_;
  std::map<std::uint64_t, Flow> flows_;
  Counters counters_;
};

}  // namespace outrider::agent
