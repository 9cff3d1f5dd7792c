#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <span>

namespace outrider {

/// A list with a fixed capacity, for values that are trivially copied. Filling it on the packet
/// path never reallocates. Allocates only at construction. Not thread-safe.
template <class T>
class BoundedList {
 public:
  BoundedList() = default;
  explicit BoundedList(std::size_t capacity)
      : values_(std::make_unique<T[]>(capacity)), end_(values_.get()), capacity_(capacity) {}

  /// @pre size() < capacity()
  void push_back(const T& value) noexcept {
    assert(size() < capacity_);
    *end_++ = value;
  }
  void clear() noexcept { end_ = values_.get(); }

  [[nodiscard]] bool empty() const noexcept { return end_ == values_.get(); }
  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(end_ - values_.get());
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept {
    assert(i < size());
    return values_[i];
  }
  [[nodiscard]] std::span<const T> all() const noexcept { return {values_.get(), size()}; }

 private:
  std::unique_ptr<T[]> values_;
  T* end_ = nullptr;  ///< after the last value
  std::size_t capacity_ = 0;
};

}  // namespace outrider
