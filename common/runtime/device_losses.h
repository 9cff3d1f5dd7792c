#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/dpdk/port/port.h"
#include "common/telemetry/run_report.h"

namespace outrider {

/// What several devices have lost together. A sum is absent if a device does not count that loss
/// and the others have none: a sum of 0 would say that nothing was lost.
struct DeviceLosses {
  std::optional<std::uint64_t> rx_missed = 0, rx_nombuf = 0, rx_errors = 0;
  std::uint64_t tx_failed = 0;
  std::vector<std::string> not_counting{};  ///< devices that do not count one of the first three

  void add(const std::string& device, const PortLosses& one) {
    bool all = true;
    const auto add_one = [&all](std::optional<std::uint64_t>& sum, std::optional<std::uint64_t> n) {
      all &= n.has_value();
      if (sum == 0U && !n) sum.reset();
      else if (n.value_or(0) != 0) sum = sum.value_or(0) + *n;
    };
    add_one(rx_missed, one.rx_missed);
    add_one(rx_nombuf, one.rx_nombuf);
    add_one(rx_errors, one.rx_errors);
    tx_failed += one.tx_failed;
    if (!all) not_counting.push_back(device);
  }
  /// Writes all but `tx_failed`, which is a reason of drops.
  void put_into(RunFigures& figures) const {
    figures.device_rx_missed = rx_missed;
    figures.device_rx_nombuf = rx_nombuf;
    figures.device_rx_errors = rx_errors;
    figures.devices_not_counting = not_counting;
  }
};

}  // namespace outrider
