#include "common/runtime/event_loop.h"

namespace outrider {

/// In a large network each event finds its memory far away, and many events are due together.
/// @pre wheel_.known_ahead() > kPrepared
void EventLoop::fetch_ahead() const noexcept {
  constexpr std::size_t kLine = 64, kLines = 3;
  if (const auto id = wheel_.soon(kFetched); id != wheel_.kNobody) {
    const auto* bytes = reinterpret_cast<const char*>(sources_[id]);
    for (std::size_t i = 0; i < kLines; ++i) __builtin_prefetch(bytes + i * kLine, 1);
  }
  sources_[wheel_.soon(kPrepared)]->prepare();
}

/// @param goes_on  (events fired) -> whether another one may be
template <class GoesOn>
[[gnu::always_inline]] inline std::uint64_t EventLoop::run_while(Time end,
                                                                 GoesOn goes_on) noexcept {
  std::uint64_t fired = 0;
  while (goes_on(fired)) {
    const auto due = wheel_.take_next(end);
    if (due.id == wheel_.kNobody) break;
    time_.go_on(due.at);
    if (wheel_.known_ahead() > kPrepared) fetch_ahead();
    const Time again = sources_[due.id]->fire(due.at);
    assert(again >= due.at);
    schedule(due.id, again);
    ++fired;
  }
  return fired;
}

std::uint64_t EventLoop::run_until(Time end) noexcept {
  return run_while(end, [](std::uint64_t) { return true; });
}

std::uint64_t EventLoop::run_until(Time end, std::uint64_t most) noexcept {
  return run_while(end, [most](std::uint64_t fired) { return fired < most; });
}

}  // namespace outrider
