#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/clock.h"
#include "common/regulation/prediction_counters.h"

namespace outrider {

/// Learns from traffic alone when the next burst of a training job is due at a queue.
///
/// An *onset* is the first payload of a job after a pause of at least `idle_gap`. Once
/// the last kIntervals spans between onsets agree to within `tolerance` of their median,
/// the job is locked: its next onset is expected one median after the last. While it is
/// locked,
/// * an onset within `tolerance` of the expected instant is a hit: the median moves on;
/// * any other is early (a retransmission after a time-out, say) and changes nothing,
///   unless as many iterations in a row as `missed_limit` had one: then the period is
///   another, and is learned anew;
/// * an expected onset that is overdue by `tolerance` is missed, the next one is expected
///   a period later; after `missed_limit` in a row the job has ended and is let go.
///
/// So a strict period is locked at onset kIntervals + 1, the first six spans after it. A
/// job whose bursts leave no pause has no onsets; one with several bursts an iteration has
/// spans that differ: neither is ever locked, and state_of() says so. Jobs are told apart
/// by a key of the caller's (where their bursts go, say), so their periods do not mix.
///
/// `now` does not decrease. on_payload() looks at most at max_jobs keys, at the one of the
/// last payload first, and sorts kIntervals spans at an onset; nothing is allocated after
/// construction. Not thread-safe: the owner of the queue owns it.
class PeriodPredictor {
 public:
  struct Params {
    Duration idle_gap{};             ///< > 0: above the pauses within a burst, below those between
    Duration max_period{};           ///< >= idle_gap: longer pauses end what was learned
    double tolerance = 0.25;         ///< share of a period, in (0, 0.5)
    std::uint32_t missed_limit = 3;  ///< >= 1
    std::uint32_t max_jobs = 16;     ///< >= 1
  };

  enum class State : std::uint8_t {
    kUnknown,    ///< no payload of that job is remembered
    kLearning,   ///< too few onsets yet
    kIrregular,  ///< enough onsets, but their spans differ
    kLocked,
  };

  /// Identity: onsets == early + hits + those while not locked.
  /// locked == ended + relearned + jobs that are locked now.
  using Counters = PredictionCounters;

  struct Prediction {
    std::uint64_t key = 0;
    Time due{};               ///< may have passed by up to `tolerance`: the burst is overdue
    Duration period{};        ///< median of the last spans
    Time given_up_at{};       ///< from then on it counts as missed
    std::uint64_t bytes = 0;  ///< payload since the last onset, what was sent again included
  };

  static constexpr std::uint32_t kIntervals = 6;

  /// @pre the ranges above; the configuration refuses all else
  explicit PeriodPredictor(const Params& params);

  /// A payload packet of the job has come to the queue. Of a START that says when its burst
  /// is due, `now` may be that instant, ahead of the time that the others are called with.
  /// @return true if it was an onset
  bool on_payload(std::uint64_t key, Time now) noexcept;

  /// So much payload of the job, if it is known: of the burst that its last onset began.
  void count(std::uint64_t key, std::uint32_t bytes) noexcept {
    if (Job* job = find(key)) job->bytes += bytes;
  }

  /// The next prediction to act upon: a locked job whose onset is due within `lead` or
  /// overdue. Each expected onset is taken once. O(max_jobs).
  [[nodiscard]] std::optional<Prediction> take(Time now, Duration lead) noexcept;
  /// Before that instant take() has nothing, unless payload comes. O(max_jobs).
  [[nodiscard]] Time next_take(Duration lead) const noexcept;

  /// The burst that is due first among those of locked jobs. O(max_jobs).
  [[nodiscard]] std::optional<Prediction> next(Time now) noexcept;
  [[nodiscard]] std::optional<Time> next_due(Time now) noexcept {
    const auto prediction = next(now);
    return prediction ? std::optional(prediction->due) : std::nullopt;
  }

  /// As of `now`: misses up to then are counted.
  [[nodiscard]] State state_of(std::uint64_t key, Time now) noexcept;
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

 private:
  struct Job {
    std::uint64_t key = 0;
    Time last_payload{};
    Time last_onset{};        ///< or where a missed one was expected: counted on from here
    Duration period{};        ///< while locked
    std::uint64_t bytes = 0;  ///< since the last onset that was not early
    std::array<Duration, kIntervals> spans{};  ///< between onsets, in a ring
    std::uint32_t known_spans = 0;             ///< up to kIntervals
    std::uint32_t next_span = 0;
    std::uint32_t missed = 0;        ///< in a row
    std::uint32_t early_cycles = 0;  ///< in a row
    bool early_in_cycle = false;
    bool anchored = true;  ///< last_onset is one: false once the job was let go
    bool locked = false;
    bool taken = false;  ///< the onset that is expected next; while locked
  };

  [[nodiscard]] Prediction prediction_of(const Job& job) const noexcept;
  [[nodiscard]] Job* find(std::uint64_t key) noexcept;
  [[nodiscard]] Job* add(std::uint64_t key, Time now) noexcept;
  void on_onset(Job& job, Time now) noexcept;
  void on_locked_onset(Job& job, Time now) noexcept;
  void learn(Job& job, Duration span) noexcept;
  /// Counts the expected onsets that have not come by `now`.
  void roll(Job& job, Time now) noexcept;
  static void forget_spans(Job& job) noexcept;
  [[nodiscard]] static Duration median(const Job& job) noexcept;
  [[nodiscard]] bool agrees(const Job& job, Duration period) const noexcept;
  [[nodiscard]] Duration tolerance_of(Duration period) const noexcept;

  Params params_;
  std::vector<Job> jobs_;
  std::size_t last_used_ = 0;
  Counters counters_;
};

}  // namespace outrider
