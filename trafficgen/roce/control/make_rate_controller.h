#pragma once

#include <memory>

#include "trafficgen/roce/control/dcqcn.h"

namespace outrider::tg {

/// Makes the controller that the configuration names. @param config must outlive it
/// @param line rate of the host's NIC
[[nodiscard]] inline std::unique_ptr<RateController> make_rate_controller(const RoceConfig& config,
                                                                          BitRate line) {
  if (config.controller == RoceController::kFixed)
    return std::make_unique<FixedRate>(
        static_cast<double>(config.rate.value_or(line).bits_per_second));
  return std::make_unique<Dcqcn>(config.dcqcn, static_cast<double>(line.bits_per_second));
}

}  // namespace outrider::tg
