#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trafficgen/hosts/host.h"
#include "trafficgen/policy/tensorlights.h"
#include "trafficgen/workload/config/tensorlights_config.h"

namespace outrider::tg {

/// The agent of one server host: gives the jobs whose servers are on it their bands at its
/// NIC, and moves them on every interval. Which connection is of which class the servers say.
class TensorLights final : private TimerClient {
 public:
  /// @param model_bytes of the jobs on this host, whose classes are 1, 2, ... in this order
  TensorLights(const TensorLightsConfig& config, std::span<const std::uint64_t> model_bytes,
               Host& host);
  void start(Time now);

 private:
  void on_timer(std::uint32_t tag, Time now) noexcept override;
  void assign() noexcept;

  TensorLightsConfig config_;
  Host& host_;
  TensorLightsBands bands_;
  std::vector<std::uint8_t> band_of_class_;  ///< [classes], of class 0 the last band
  std::uint64_t rotation_ = 0;
};

}  // namespace outrider::tg
