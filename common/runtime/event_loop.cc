#include "common/runtime/event_loop.h"

namespace outrider {

std::uint64_t EventLoop::run_until(Time end) noexcept {
  std::uint64_t fired = 0;
  for (auto due = wheel_.take_next(end); due.id != wheel_.kNobody; due = wheel_.take_next(end)) {
    const Time again = sources_[due.id]->fire(due.at);
    assert(again >= due.at);
    schedule(due.id, again);
    ++fired;
  }
  return fired;
}

}  // namespace outrider
