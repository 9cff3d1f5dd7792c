#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/core/figure.h"

namespace outrider {

/// Counts of the bursts and jobs that a PeriodPredictor has seen.
struct PredictionCounters {
  std::uint64_t onsets = 0;
  std::uint64_t hits = 0;
  std::uint64_t early = 0;
  std::uint64_t missed = 0;
  std::uint64_t locked = 0;        ///< times that a job became locked
  std::uint64_t ended = 0;         ///< locked jobs let go after `missed_limit`
  std::uint64_t relearned = 0;     ///< locked jobs let go because onsets kept coming early
  std::uint64_t refused = 0;       ///< payload of a job for which there was no room
  std::uint64_t not_accepted = 0;  ///< payload of sources that are not believed
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, PredictionCounters>
void fields(V& v, R& r) {
  v.value(counter("onsets", "bursts", "Bursts that began after a pause"), r.onsets);
  v.value(counter("hits", "bursts", "Bursts that began when they were expected"), r.hits);
  v.value(counter("early", "bursts", "Bursts that began at another time"), r.early);
  v.value(counter("missed", "bursts", "Bursts that were expected and did not come"), r.missed);
  v.value(counter("locked", "jobs", "Jobs whose period was learned"), r.locked);
  v.value(counter("ended", "jobs", "Jobs let go after too many missed bursts"), r.ended);
  v.value(counter("relearned", "jobs", "Jobs let go because their period had changed"),
          r.relearned);
  v.value(counter("refused", "packets", "Payload of jobs for which there was no room"), r.refused);
  v.value(counter("not_accepted", "packets",
                  "Payload of sources that are not in accept_from, which taught nothing"),
          r.not_accepted);
}

/// A queue's predictions; zeros without any.
struct PredictionFigures {
  PredictionCounters predictor{};
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, PredictionFigures>
void fields(V& v, R& r) { v.value("predictor", r.predictor); }

}  // namespace outrider
