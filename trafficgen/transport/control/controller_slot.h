#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <new>
#include <type_traits>

#include "trafficgen/transport/control/congestion_control.h"

namespace outrider::tg {

/// A connection's controller, of the kind that its settings name, in place: a
/// connection owns no heap memory. Used like a pointer that is never null.
class ControllerSlot {
 public:
  static constexpr std::size_t kBytes = 96;  ///< of the largest controller

  /// @param config must outlive the slot
  explicit ControllerSlot(const ControllerConfig& config) noexcept {
    [[maybe_unused]] const CongestionControl* made =
        row_of(config.controller).make(storage_.data(), config);
    assert(static_cast<const void*>(made) == storage_.data());
  }
  explicit ControllerSlot(ControllerConfig&&) = delete;
  ControllerSlot(const ControllerSlot&) = delete;
  ControllerSlot& operator=(const ControllerSlot&) = delete;
  ~ControllerSlot() = default;  ///< controllers own nothing

  [[nodiscard]] CongestionControl& operator*() noexcept { return *get(); }
  [[nodiscard]] const CongestionControl& operator*() const noexcept { return *get(); }
  [[nodiscard]] CongestionControl* operator->() noexcept { return get(); }
  [[nodiscard]] const CongestionControl* operator->() const noexcept { return get(); }

 private:
  // The base of every controller lies at its beginning: the constructor asserts it.
  [[nodiscard]] CongestionControl* get() noexcept {
    return std::launder(reinterpret_cast<CongestionControl*>(storage_.data()));
  }
  [[nodiscard]] const CongestionControl* get() const noexcept {
    return std::launder(reinterpret_cast<const CongestionControl*>(storage_.data()));
  }

  alignas(8) std::array<std::byte, kBytes> storage_;
};

/// A MakeController for the class C.
template <class C>
CongestionControl* put_controller(std::byte* space, const ControllerConfig& config) noexcept {
  static_assert(sizeof(C) <= ControllerSlot::kBytes && alignof(C) <= 8);
  static_assert(std::is_trivially_destructible_v<C>, "nobody calls its destructor");
  return ::new (space) C(config);
}

}  // namespace outrider::tg
