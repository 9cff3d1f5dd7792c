#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/core/figure.h"

namespace outrider {

/// The counters of the admission of bursts. Identities:
/// entered == complete + overstayed + no_answer + evicted + replaced + bursts in the table;
/// acks_held == granted + waited_out + went_ahead + acks_replaced + acks that are held.
struct GrantCounters {
  std::uint64_t entered = 0;         ///< STARTs whose burst came into the table
  std::uint64_t repeated = 0;        ///< STARTs of a burst that is known
  std::uint64_t stale = 0;           ///< STARTs of an earlier burst of their flow
  std::uint64_t refused_sender = 0;  ///< STARTs of a sender that has its places
  std::uint64_t refused_table = 0;   ///< STARTs that found the table full
  std::uint64_t acks_at_once = 0;    ///< answers that found their burst granted or next
  std::uint64_t acks_held = 0;       ///< answers that waited for a grant
  std::uint64_t acks_repeated = 0;   ///< copies of an answer that is held: dropped
  std::uint64_t acks_replaced = 0;   ///< held answers to a START that a newer one replaced: dropped
  std::uint64_t granted = 0;         ///< held answers that passed in their order
  std::uint64_t in_debt = 0;         ///< grants that took no room, for their sender's debt
  std::uint64_t waited_out = 0;      ///< held answers that passed at the end of their patience
  std::uint64_t went_ahead = 0;      ///< held answers that passed as their burst had come already
  std::uint64_t came_unasked = 0;    ///< bursts that came before they were granted
  std::uint64_t complete = 0;        ///< bursts of which all announced bytes, or FIN, have come
  std::uint64_t overstayed = 0;      ///< bursts that were not complete at the end of their time
  std::uint64_t no_answer = 0;       ///< bursts whose answer did not come
  std::uint64_t evicted = 0;         ///< bursts without an answer that made room for another's
  std::uint64_t replaced = 0;        ///< bursts that a newer START of their flow replaced
  std::uint64_t lapsed =
      0;  ///< times that a granted burst lost its room: silent for `idle`, or in debt
  std::uint64_t revived = 0;  ///< times that such a burst went on
  std::uint64_t wait_ns = 0;  ///< of answers that were held
  std::uint64_t longest_wait_ns = 0;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, GrantCounters>
void fields(V& v, R& r) {
  v.value(counter("entered", "starts", "Announcements whose burst may have to wait"), r.entered);
  v.value(counter("repeated", "starts", "Announcements of a burst that is known"), r.repeated);
  v.value(counter("stale", "starts", "Announcements of an earlier burst"), r.stale);
  v.value(counter("refused_sender", "starts", "Announcements of a sender that has its places"),
          r.refused_sender);
  v.value(counter("refused_table", "starts", "Announcements that found the table full"),
          r.refused_table);
  v.value(counter("acks_at_once", "messages", "Answers that did not have to wait"), r.acks_at_once);
  v.value(counter("acks_held", "messages", "Answers that were held"), r.acks_held);
  v.value(counter("acks_repeated", "messages", "Copies of held answers"), r.acks_repeated);
  v.value(counter("acks_replaced", "messages", "Held answers to a START that was replaced"),
          r.acks_replaced);
  v.value(counter("granted", "messages", "Held answers that passed in their order"), r.granted);
  v.value(counter("in_debt", "bursts", "Grants that took no room as their sender wasted time"),
          r.in_debt);
  v.value(counter("waited_out", "messages", "Held answers that passed as they had waited too long"),
          r.waited_out);
  v.value(counter("went_ahead", "messages", "Held answers whose burst had not waited"),
          r.went_ahead);
  v.value(counter("came_unasked", "bursts", "Bursts that came before they were granted"),
          r.came_unasked);
  v.value(counter("complete", "bursts", "Bursts that came as announced"), r.complete);
  v.value(counter("overstayed", "bursts", "Bursts that did not come in their time"), r.overstayed);
  v.value(counter("no_answer", "bursts", "Bursts whose answer did not come"), r.no_answer);
  v.value(counter("evicted", "bursts", "Bursts without an answer that made room for others"),
          r.evicted);
  v.value(counter("replaced", "bursts", "Bursts that a newer announcement replaced"), r.replaced);
  v.value(
      counter("lapsed", "times", "Times that a granted burst was silent, or its sender in debt"),
      r.lapsed);
  v.value(counter("revived", "times", "Times that a silent burst went on"), r.revived);
  v.value(counter("wait_ns", "ns", "Time that answers were held"), r.wait_ns);
  v.value(gauge("longest_wait_ns", "ns", "Longest time that an answer was held"),
          r.longest_wait_ns);
}

/// Grants of a queue; zeros unless it grants bursts.
struct GrantFigures {
  std::uint64_t held_answers = 0;      ///< answers to STARTs that wait; none is resident
  std::uint64_t announced_bursts = 0;  ///< that may wait, wait or are granted
  std::uint64_t granted_bytes = 0;     ///< that have not come
  GrantCounters grant{};
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, GrantFigures>
void fields(V& v, R& r) {
  v.value(
      gauge("held_answers", "messages", "Answers to announcements that are held").outlined_if_any(),
      r.held_answers);
  v.value(gauge("announced_bursts", "bursts", "Bursts that wait for a grant, or have one")
              .outlined_if_any(),
          r.announced_bursts);
  v.value(gauge("granted_bytes", "bytes", "Bytes of bursts that were granted and have not come")
              .outlined_if_any(),
          r.granted_bytes);
  v.value("grant", r.grant);
}

}  // namespace outrider
