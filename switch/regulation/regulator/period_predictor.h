#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/clock.h"
#include "switch/regulation/regulator/prediction_counters.h"

namespace outrider {

/// Learns from traffic alone when the next burst of a training job is due at a queue.
///
/// An *onset* is the first payload of a job after a pause of at least `idle_gap`. Once
/// the last kIntervals spans between onsets agree with their median to within `tolerance`,
/// the job is locked: its next onset is expected one median after the last. While it is
/// locked,
/// * an onset within `tolerance` of the expected instant is a hit, and updates the median;
/// * any other onset is early (a retransmission after a time-out, say) and changes nothing.
///   If `missed_limit` iterations in a row have an early onset, the period has changed and
///   is learned anew;
/// * an expected onset that is overdue by `tolerance` is missed, and the next one is
///   expected a period later. After `missed_limit` misses in a row the job is let go.
///
/// So a strict period is locked at onset kIntervals + 1, when six spans are known. A job
/// whose bursts leave no pause has no onsets, and one with several bursts per iteration has
/// unequal spans: neither is ever locked, as state_of() shows. The caller's key identifies a
/// job (for example the destination of its bursts), so that periods do not mix.
///
/// `now` does not decrease. on_payload() compares at most max_jobs keys, beginning with that
/// of the last payload, and sorts kIntervals spans at an onset. Nothing is allocated after
/// construction. Not thread-safe: the owner of the queue owns it.
class PeriodPredictor {
 public:
  struct Params {
    Duration idle_gap{};             ///< > 0: between the pauses within a burst and those after it
    Duration max_period{};           ///< >= idle_gap: a longer pause discards the spans learned
    double tolerance = 0.25;         ///< share of a period, in (0, 0.5)
    std::uint32_t missed_limit = 3;  ///< >= 1
    std::uint32_t max_jobs = 16;     ///< >= 1
  };

  enum class State : std::uint8_t {
    kUnknown,    ///< no payload of the job is remembered
    kLearning,   ///< too few onsets yet
    kIrregular,  ///< enough onsets, but their spans differ
    kLocked,
  };

  /// Identities: onsets == early + hits + onsets of jobs that were not locked;
  /// locked == ended + relearned + jobs that are locked now.
  using Counters = PredictionCounters;

  struct Prediction {
    std::uint64_t key = 0;
    Time due{};               ///< may be past by up to `tolerance`: the burst is overdue
    Duration period{};        ///< median of the last spans
    Time given_up_at{};       ///< from this instant on it counts as missed
    std::uint64_t bytes = 0;  ///< payload since the last onset, retransmissions included
  };

  static constexpr std::uint32_t kIntervals = 6;

  /// @pre the ranges above, which the configuration checks
  explicit PeriodPredictor(const Params& params);

  /// Handles a payload packet of the job that reaches the queue. @return true if it was an onset
  bool on_payload(std::uint64_t key, Time now) noexcept;

  /// Handles the announcement of a burst of the job that is due at `due`. An announcement may be
  /// forged, so what it may change is bounded. Of a locked job, only an instant up to the end
  /// of the next expected onset's tolerance counts. A job that is not locked learns an onset when
  /// its instant comes, and only the nearest that was announced. An instant further than
  /// `max_period` ahead is ignored.
  /// @return true if it changed what is expected
  bool on_announced(std::uint64_t key, Time due, Time now) noexcept;

  /// Adds payload to the burst that began with the job's last onset, if the job is known.
  void count(std::uint64_t key, std::uint32_t bytes) noexcept {
    if (Job* job = find(key)) job->bytes += bytes;
  }

  /// Counts a payload packet that taught nothing, because its source is not believed.
  void count_not_accepted() noexcept { ++counters_.not_accepted; }

  /// Returns the next prediction to act on: a locked job whose onset is due within `lead` or
  /// overdue. Each expected onset is returned once. O(max_jobs).
  [[nodiscard]] std::optional<Prediction> take(Time now, Duration lead) noexcept;
  /// Returns the instant before which take() returns nothing, unless payload comes. O(max_jobs).
  [[nodiscard]] Time next_take(Duration lead) const noexcept;

  /// Returns the prediction that is due first among those of locked jobs. O(max_jobs).
  [[nodiscard]] std::optional<Prediction> next(Time now) noexcept;
  [[nodiscard]] std::optional<Time> next_due(Time now) noexcept {
    const auto prediction = next(now);
    return prediction ? std::optional(prediction->due) : std::nullopt;
  }

  /// Returns the state as of `now`: misses up to then are counted.
  [[nodiscard]] State state_of(std::uint64_t key, Time now) noexcept;
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

 private:
  struct Job {
    std::uint64_t key = 0;
    Time last_payload{};
    Time announced = kNever;                   ///< a future onset, while not locked; kNever: none
    Time last_onset{};                         ///< or the expected time of a missed one
    Duration period{};                         ///< valid while locked
    std::uint64_t bytes = 0;                   ///< since the last onset that was not early
    std::array<Duration, kIntervals> spans{};  ///< between onsets, in a ring
    std::uint32_t known_spans = 0;             ///< up to kIntervals
    std::uint32_t next_span = 0;
    std::uint32_t missed = 0;        ///< in a row
    std::uint32_t early_cycles = 0;  ///< iterations in a row with an early onset
    bool early_in_cycle = false;
    bool anchored = true;  ///< last_onset is an onset: false once the job was let go
    bool locked = false;
    bool taken = false;  ///< take() has returned the next expected onset; while locked
  };

  [[nodiscard]] Prediction prediction_of(const Job& job) const noexcept;
  [[nodiscard]] Job* find(std::uint64_t key) noexcept;
  [[nodiscard]] Job* add(std::uint64_t key, Time now) noexcept;
  bool see(Job& job, Time now) noexcept;
  void on_onset(Job& job, Time now) noexcept;
  void on_locked_onset(Job& job, Time now) noexcept;
  void learn(Job& job, Duration span) noexcept;
  /// Learns the announced onset if it has come by `now`, and counts the expected onsets that
  /// have not as missed.
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
