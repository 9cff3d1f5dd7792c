#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trafficgen/hosts/host.h"
#include "trafficgen/policy/tensorlights.h"
#include "trafficgen/workload/config/tensorlights_config.h"

namespace outrider::tg {

/// The TensorLights agent of one server host. It assigns bands at the host's NIC to the jobs whose
/// servers are on the host, and rotates them every interval. The servers set the class of each
/// connection.
class TensorLights final : private TimerClient {
 public:
  /// @param model_bytes [jobs on this host]; their classes are 1, 2, ... in this order
  TensorLights(const TensorLightsConfig& config, std::span<const std::uint64_t> model_bytes,
               Host& host);
  void start(Time now);

 private:
  void on_timer(std::uint32_t tag, Time now) noexcept override;
  void assign() noexcept;

  TensorLightsConfig config_;
  Host& host_;
  TensorLightsBands bands_;
  std::vector<std::uint8_t> band_of_class_;  ///< [classes]; class 0 has the last band
  std::uint64_t rotation_ = 0;
};

}  // namespace outrider::tg
