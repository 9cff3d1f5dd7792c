#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

namespace outrider {

/// A queue in a power-of-two ring. Room is reserved at construction. A push beyond it doubles
/// the ring, which happens only at a new peak; callers bound what they push. Not thread-safe.
template <class T>
class Fifo {
 public:
  explicit Fifo(std::size_t expected) : ring_(std::bit_ceil(expected < 2 ? 2 : expected)) {}

  void push(T value) {
    if (size() == ring_.size()) grow();
    ring_[tail_++ & mask()] = std::move(value);
  }
  /// @pre !empty()
  T pop() noexcept {
    assert(!empty());
    return std::move(ring_[head_++ & mask()]);
  }
  /// Returns the element that pop() returns after `behind` others. @pre behind < size()
  [[nodiscard]] const T& peek(std::size_t behind = 0) const noexcept {
    assert(behind < size());
    return ring_[(head_ + behind) & mask()];
  }
  [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }
  [[nodiscard]] std::size_t size() const noexcept { return tail_ - head_; }

 private:
  [[nodiscard]] std::size_t mask() const noexcept { return ring_.size() - 1; }
  [[gnu::noinline]] void grow() {
    std::vector<T> bigger(ring_.size() * 2);
    const std::size_t n = size();
    for (std::size_t i = 0; i < n; ++i) bigger[i] = std::move(ring_[(head_ + i) & mask()]);
    ring_ = std::move(bigger);
    head_ = 0;
    tail_ = n;
  }

  std::size_t head_ = 0, tail_ = 0;  // free-running
  std::vector<T> ring_;
};

}  // namespace outrider
