#pragma once

#include <optional>
#include <string>

#include "common/config/checks.h"
#include "common/config/config_binding.h"

namespace outrider {

/// Says who may look at a running switch, in addition to the terminal and DPDK's own socket.
struct TelemetryConfig {
  std::optional<std::string> prometheus{};  ///< "127.0.0.1:9464"; absent: nothing listens
  bool prometheus_remote = false;           ///< allows an address other than loopback
};

void check(const Checks& at, const TelemetryConfig& telemetry);

void describe(Settings& v, TelemetryConfig& c);

}  // namespace outrider
