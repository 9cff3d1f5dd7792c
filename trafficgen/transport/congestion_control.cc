#include "trafficgen/transport/congestion_control.h"

#include <cassert>

#include "trafficgen/transport/cubic.h"
#include "trafficgen/transport/dctcp.h"
#include "trafficgen/transport/reno.h"

namespace outrider {

std::unique_ptr<CongestionControl> make_congestion_control(const ControllerConfig& config) {
  switch (config.controller) {
    case Controller::kReno:
      return std::make_unique<Reno>(config);
    case Controller::kCubic:
      return std::make_unique<Cubic>(config);
    case Controller::kDctcp:
      return std::make_unique<Dctcp>(config);
  }
  assert(false);
  return nullptr;
}

}  // namespace outrider
