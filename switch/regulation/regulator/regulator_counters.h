#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/core/figure.h"

namespace outrider {

/// Counts of a regulator's decisions. Identity:
/// starts_armed + starts_predicted == recovered_* + expired + budget_exhausted + replaced +
/// evicted + predictions_missed + withdrawn + live entries.
struct RegulatorCounters {
  std::uint64_t starts_armed = 0;           ///< armed by a START
  std::uint64_t starts_predicted = 0;       ///< armed by a prediction
  std::uint64_t starts_repeated = 0;        ///< START of an iteration already known: no change
  std::uint64_t starts_tightened = 0;       ///< copy of a live START that asked for more
  std::uint64_t starts_stale = 0;           ///< START of an earlier burst of the flow: no change
  std::uint64_t starts_refused_budget = 0;  ///< job, sender or queue has used up its share
  std::uint64_t starts_refused_sender = 0;  ///< its sender holds as many entries as it may
  std::uint64_t starts_refused_table = 0;   ///< no entry was free, and none could be evicted
  std::uint64_t recovered_arrival = 0;
  std::uint64_t recovered_burst_end = 0;
  std::uint64_t recovered_timer = 0;
  std::uint64_t expired = 0;             ///< no DDL payload for `expiry`
  std::uint64_t budget_exhausted = 0;    ///< ended or not begun, because a share was used up
  std::uint64_t replaced = 0;            ///< by a START of a newer iteration of the same flow; or a
                                         ///< prediction by its START or by the next predicted onset
  std::uint64_t evicted = 0;             ///< had not begun, and made room for another sender's
  std::uint64_t predictions_missed = 0;  ///< no payload came for `expiry` after they were due
  std::uint64_t withdrawn = 0;           ///< regulation was switched off
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, RegulatorCounters>
void fields(V& v, R& r) {
  v.value(counter("starts_armed", "starts", "Announcements that were armed").outlined(),
          r.starts_armed);
  v.value(counter("starts_predicted", "entries", "Entries by a prediction"), r.starts_predicted);
  v.value(counter("predictions_missed", "entries", "Predictions without a burst"),
          r.predictions_missed);
  v.value(counter("starts_repeated", "starts", "Announcements known already"), r.starts_repeated);
  v.value(counter("starts_tightened", "starts", "Copies that made their announcement stricter"),
          r.starts_tightened);
  v.value(counter("starts_stale", "starts", "Announcements of an earlier burst of their flow"),
          r.starts_stale);
  v.value(counter("starts_refused_budget", "starts",
                  "Announcements refused: the budget of job, sender or queue was used up"),
          r.starts_refused_budget);
  v.value(counter("starts_refused_sender", "starts",
                  "Announcements refused: the sender had its share of the table"),
          r.starts_refused_sender);
  v.value(counter("starts_refused_table", "starts", "Announcements refused: the table was full"),
          r.starts_refused_table);
  v.value(counter("recovered_arrival", "entries", "Regulation ended by arrival"),
          r.recovered_arrival);
  v.value(counter("recovered_burst_end", "entries", "Regulation ended by the burst's end"),
          r.recovered_burst_end);
  v.value(counter("recovered_timer", "entries", "Regulation ended by its timer"),
          r.recovered_timer);
  v.value(counter("expired", "entries", "Regulation ended without a burst"), r.expired);
  v.value(counter("budget_exhausted", "entries", "Regulation ended by the budget"),
          r.budget_exhausted);
  v.value(counter("replaced", "entries", "Regulation replaced by a newer iteration's"), r.replaced);
  v.value(counter("evicted", "entries", "Entries that waited and made room for another sender's"),
          r.evicted);
  v.value(counter("withdrawn", "entries", "Regulation ended by a reload"), r.withdrawn);
}

}  // namespace outrider
