#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/core/clock.h"

namespace outrider::tg {

/// Is woken by application timers.
class TimerClient {
 public:
  virtual void on_timer(std::uint32_t tag, Time now) noexcept = 0;
  /// Announces that on_timer(tag) comes next, so that its data may be prefetched.
  virtual void expect(std::uint32_t /*tag*/) noexcept {}

 protected:
  ~TimerClient() = default;
};

/// Holds the application timers of one host, earliest first, equal ones in the order of adding. A
/// new peak of pending timers allocates. Not thread-safe.
class TimerQueue {
 public:
  struct Timer {
    Time at{};
    std::uint64_t order = 0;
    TimerClient* client = nullptr;
    std::uint32_t tag = 0;  ///< chosen by the client
  };

  explicit TimerQueue(std::size_t expected) { heap_.reserve(expected); }

  void add(Timer timer) {
    timer.order = next_order_++;
    heap_.push_back(timer);
    std::ranges::push_heap(heap_, later);
  }
  [[nodiscard]] Time next() const noexcept { return heap_.empty() ? kNever : heap_.front().at; }
  /// Calls expect() for the first timer.
  void expect_next() noexcept {
    if (!heap_.empty()) heap_.front().client->expect(heap_.front().tag);
  }
  /// @pre next() != kNever
  Timer pop() noexcept {
    std::ranges::pop_heap(heap_, later);
    const Timer timer = heap_.back();
    heap_.pop_back();
    return timer;
  }

 private:
  static bool later(const Timer& a, const Timer& b) noexcept {
    return a.at != b.at ? a.at > b.at : a.order > b.order;
  }
  std::vector<Timer> heap_;
  std::uint64_t next_order_ = 0;
};

}  // namespace outrider::tg
