#include "trafficgen/hosts/time_wait_table.h"

#include <cassert>

namespace outrider::tg {

void TimeWaitTable::add(const FlowKey& flow, const TimeWait& state, Duration wait, Time now) {
  // Two are removed for each one added, so that expired entries do not pile up.
  for (int i = 0; i < 2 && !queue_.empty() && queue_.peek().until <= now; ++i) expire_first(now);
  while (queue_.size() >= limit_) {
    if (entries_.erase(queue_.pop().flow)) ++events_.time_waits_cut;
  }
  entries_.erase(flow);
  if (entries_.full()) entries_.grow();
  const Time until = now + wait;
  entries_.insert(flow, {state, wait, until});
  queue_.push({flow, until});
  ++events_.time_waits;
}

void TimeWaitTable::restart(const FlowKey& flow, Time now) noexcept {
  Entry* entry = entries_.find(flow);
  assert(entry != nullptr);
  entry->until = now + entry->wait;
}

/// An entry that was restarted is queued again.
void TimeWaitTable::expire_first(Time now) {
  const Queued first = queue_.pop();
  const Entry* entry = entries_.find(first.flow);
  if (entry == nullptr) return;
  if (entry->until > now) queue_.push({first.flow, entry->until});
  else entries_.erase(first.flow);
}

}  // namespace outrider::tg
