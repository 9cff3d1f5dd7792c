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
      : values_(std::make_unique<T[]>(capacity)), capacity_(capacity) {}

  /// @pre size() < capacity()
  void push_back(const T& value) noexcept {
    assert(size_ < capacity_);
    values_[size_++] = value;
  }
  void clear() noexcept { size_ = 0; }

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept {
    assert(i < size_);
    return values_[i];
  }
  [[nodiscard]] std::span<const T> all() const noexcept { return {values_.get(), size_}; }

 private:
  std::unique_ptr<T[]> values_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace outrider
