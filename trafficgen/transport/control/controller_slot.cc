#include "trafficgen/transport/control/controller_slot.h"

#include <cassert>
#include <type_traits>

#include "trafficgen/transport/control/cubic.h"
#include "trafficgen/transport/control/dctcp.h"
#include "trafficgen/transport/control/reno.h"
#include "trafficgen/transport/control/unresponsive.h"

namespace outrider {

template <class C>
void ControllerSlot::emplace(const ControllerConfig& config) noexcept {
  static_assert(sizeof(C) <= kBytes && alignof(C) <= 8);
  static_assert(std::is_trivially_destructible_v<C>, "nobody calls its destructor");
  [[maybe_unused]] const CongestionControl* made = ::new (storage_.data()) C(config);
  assert(static_cast<const void*>(made) == storage_.data());
}

ControllerSlot::ControllerSlot(const ControllerConfig& config) noexcept {
  switch (config.controller) {
    case Controller::kReno:
      emplace<Reno>(config);
      return;
    case Controller::kCubic:
      emplace<Cubic>(config);
      return;
    case Controller::kDctcp:
      emplace<Dctcp>(config);
      return;
    case Controller::kUnresponsive:
      emplace<Unresponsive>(config);
      return;
  }
  assert(false);
}

}  // namespace outrider
