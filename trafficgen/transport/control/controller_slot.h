#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <new>
#include <type_traits>

#include "trafficgen/transport/control/congestion_control.h"

namespace outrider::tg {

/// Holds a connection's controller, of the kind that the settings name, in place, so that a
/// connection owns no heap memory. It is used like a pointer that is never null.
class ControllerSlot {
 public:
  static constexpr std::size_t kBytes = 96;  ///< size of the largest controller

  /// @param config must outlive the slot @param mss_bytes payload of a full segment
  ControllerSlot(const ControllerConfig& config, std::uint16_t mss_bytes) noexcept {
    remake(config, mss_bytes);
  }
  ControllerSlot(ControllerConfig&&, std::uint16_t) = delete;
  ControllerSlot(const ControllerSlot&) = delete;
  ControllerSlot& operator=(const ControllerSlot&) = delete;
  ~ControllerSlot() = default;  ///< controllers own nothing
  /// Replaces the controller by a new one: the connection's segments are known now.
  void remake(const ControllerConfig& config, std::uint16_t mss_bytes) noexcept {
    [[maybe_unused]] const CongestionControl* made =
        row_of(config.controller).make(storage_.data(), config, mss_bytes);
    assert(static_cast<const void*>(made) == storage_.data());
  }

  [[nodiscard]] CongestionControl& operator*() noexcept { return *get(); }
  [[nodiscard]] const CongestionControl& operator*() const noexcept { return *get(); }
  [[nodiscard]] CongestionControl* operator->() noexcept { return get(); }
  [[nodiscard]] const CongestionControl* operator->() const noexcept { return get(); }

 private:
  // The base of every controller is at offset 0, as the constructor asserts.
  [[nodiscard]] CongestionControl* get() noexcept {
    return std::launder(reinterpret_cast<CongestionControl*>(storage_.data()));
  }
  [[nodiscard]] const CongestionControl* get() const noexcept {
    return std::launder(reinterpret_cast<const CongestionControl*>(storage_.data()));
  }

  alignas(8) std::array<std::byte, kBytes> storage_;
};

/// The MakeController of class C.
template <class C>
CongestionControl* put_controller(std::byte* space, const ControllerConfig& config,
                                  std::uint16_t mss_bytes) noexcept {
  static_assert(sizeof(C) <= ControllerSlot::kBytes && alignof(C) <= 8);
  static_assert(std::is_trivially_destructible_v<C>, "nobody calls its destructor");
  return ::new (space) C(config, mss_bytes);
}

}  // namespace outrider::tg
