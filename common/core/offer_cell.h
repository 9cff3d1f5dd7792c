#pragma once

#include <atomic>

namespace outrider {

/// Offers an object to one other thread. That thread looks for it between two pieces of its
/// work, and reports when it has taken what it wants. Neither side waits in here.
///
/// offer(), pending(): called by the thread that made the object, which keeps it until it is
/// no longer pending. poll(): called by the other thread; one load from a cache line that
/// only the two threads write.
template <class T>
class alignas(64) OfferCell {
 public:
  /// @pre !pending()
  void offer(T& object) noexcept { offered_.store(&object, std::memory_order_release); }

  [[nodiscard]] bool pending() const noexcept {
    return offered_.load(std::memory_order_acquire) != nullptr;
  }

  /// Calls `take(object)` if one is offered.
  template <class Take>
  void poll(Take&& take) noexcept {
    T* offered = offered_.load(std::memory_order_acquire);
    if (offered == nullptr) [[likely]]
      return;
    take(*offered);
    offered_.store(nullptr, std::memory_order_release);
  }

 private:
  std::atomic<T*> offered_{nullptr};
};

}  // namespace outrider
