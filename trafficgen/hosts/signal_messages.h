#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/core/figure.h"

namespace outrider::tg {

/// Counts of the STARTs that a host sent and of the answers (ACKs) to STARTs, in both directions.
struct SignalMessages {
  std::uint64_t starts_sent = 0;
  std::uint64_t acks_sent = 0;        ///< answers to STARTs that have left
  std::uint64_t answers_dropped = 0;  ///< answers that a newer one replaced, see StartSignals
  std::uint64_t acks_received = 0;
  std::uint64_t acks_not_ours = 0;  ///< without the tag of the START that waits for an answer
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, SignalMessages>
void fields(V& v, R& r) {
  v.value(counter("starts_sent", "starts", "STARTs that hosts sent"), r.starts_sent);
  v.value(counter("acks_sent", "messages", "Answers to STARTs that hosts sent"), r.acks_sent);
  v.value(counter("answers_dropped", "messages", "Answers to STARTs that a newer one replaced"),
          r.answers_dropped);
  v.value(counter("acks_received", "messages", "Answers to STARTs that hosts received"),
          r.acks_received);
  v.value(counter("acks_not_ours", "messages", "Answers that no START of the host has asked for"),
          r.acks_not_ours);
}

}  // namespace outrider::tg
