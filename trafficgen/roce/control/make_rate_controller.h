#pragma once

#include <memory>

#include "trafficgen/roce/control/dcqcn.h"
#include "trafficgen/roce/control/hpcc.h"
#include "trafficgen/roce/control/swift.h"

namespace outrider::tg {

/// Makes the controller that the configuration names. @param config must outlive it
[[nodiscard]] inline std::unique_ptr<RateController> make_rate_controller(const RoceConfig& config,
                                                                          const SendPath& path) {
  switch (config.controller) {
    case RoceController::kFixed:
      return std::make_unique<FixedRate>(path.line_bps);
    case RoceController::kHpcc:
      return std::make_unique<Hpcc>(config.hpcc, path);
    case RoceController::kSwift:
      return std::make_unique<Swift>(config.swift, path);
    default:
      return std::make_unique<Dcqcn>(config.dcqcn, path.line_bps);
  }
}

}  // namespace outrider::tg
