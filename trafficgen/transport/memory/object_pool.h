#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

namespace outrider::tg {

/// Lends a fixed number of equal objects. The object given back last is lent first, because it is
/// still in the cache. An object that was never lent is never touched, so that a generous reserve
/// costs address space only. O(1), not thread-safe; nothing allocates after construction.
template <class T>
class ObjectPool {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  explicit ObjectPool(std::uint32_t objects)
      : slots_(std::make_unique_for_overwrite<Slot[]>(objects)), limit_(objects) {}

  /// Lends an object, newly initialised. @return nullptr if all are lent
  [[nodiscard]] T* take() noexcept {
    Slot* slot = free_;
    if (slot != nullptr) {
      free_ = next_of(*slot);
      __builtin_prefetch(free_, 1);  // it may be long out of the cache
    } else if (touched_ < limit_) slot = &slots_[touched_++];
    else return nullptr;
    ++lent_;
    return new (slot->bytes) T;
  }
  /// @pre object is lent
  void give_back(T* object) noexcept {
    assert(lent_ > 0);
    --lent_;
    Slot* slot = reinterpret_cast<Slot*>(object);
    new (slot->bytes) Slot*(free_);
    free_ = slot;
  }

  [[nodiscard]] bool empty() const noexcept { return lent_ == limit_; }
  [[nodiscard]] std::uint32_t lent() const noexcept { return lent_; }
  [[nodiscard]] std::uint32_t limit() const noexcept { return limit_; }

 private:
  struct alignas(64) Slot {
    std::byte bytes[sizeof(T)];
  };
  static_assert(sizeof(T) >= sizeof(void*));
  static Slot* next_of(Slot& slot) noexcept {
    return *std::launder(reinterpret_cast<Slot**>(slot.bytes));
  }

  std::unique_ptr<Slot[]> slots_;
  Slot* free_ = nullptr;
  std::uint32_t limit_;
  std::uint32_t touched_ = 0;  ///< slots that were lent at least once
  std::uint32_t lent_ = 0;
};

}  // namespace outrider::tg
