#pragma once

#include <cstdint>

#include "common/config/config_binding.h"
#include "common/core/clock.h"
#include "common/core/units.h"

namespace outrider::tg {

enum class TensorLightsMode : std::uint8_t {
  kOff,     ///< connections take turns at every NIC
  kOne,     ///< TLs-One: bands are assigned once
  kRotate,  ///< TLs-RR: the jobs move on by one band every interval
};

/// Bands of jobs at the NICs of server hosts, for the parameters that they send.
struct TensorLightsConfig {
  TensorLightsMode mode = TensorLightsMode::kOff;
  Duration interval = std::chrono::seconds(20);  ///< kRotate, > 0
  std::uint32_t bands = 7;                       ///< 1 to 63
  BitRate floor_rate{100'000};                   ///< minimum rate of every band, > 0
};

inline constexpr auto kTensorLightsModes =
    choices<TensorLightsMode>({{"off", TensorLightsMode::kOff},
                               {"one", TensorLightsMode::kOne},
                               {"rotate", TensorLightsMode::kRotate}});

void describe(Settings& v, TensorLightsConfig& c);

}  // namespace outrider::tg
