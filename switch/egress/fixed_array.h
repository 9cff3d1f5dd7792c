#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <utility>

namespace outrider {

/// An array whose elements are made in place, one by one, and never move: others may keep
/// references to them, and they need not be movable. Its size is known when it is made.
template <class T>
class FixedArray {
 public:
  /// @param most  elements that will be made
  explicit FixedArray(std::size_t most) : room_(most), first_(std::allocator<T>().allocate(most)) {}
  FixedArray(const FixedArray&) = delete;
  FixedArray& operator=(const FixedArray&) = delete;
  ~FixedArray() {
    std::destroy_n(first_, size_);
    std::allocator<T>().deallocate(first_, room_);
  }

  /// @pre size() < `most`
  template <class... Args>
  T& emplace_back(Args&&... args) {
    assert(size_ < room_);
    return *std::construct_at(first_ + size_++, std::forward<Args>(args)...);
  }

  [[nodiscard]] T& operator[](std::size_t i) noexcept {
    assert(i < size_);
    return first_[i];
  }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept {
    assert(i < size_);
    return first_[i];
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] T* begin() noexcept { return first_; }
  [[nodiscard]] T* end() noexcept { return first_ + size_; }
  [[nodiscard]] const T* begin() const noexcept { return first_; }
  [[nodiscard]] const T* end() const noexcept { return first_ + size_; }

 private:
  std::size_t room_;
  std::size_t size_ = 0;
  T* first_;
};

}  // namespace outrider
