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

/// Rate that every job and all other traffic get before a band borrows.
inline constexpr BitRate kTensorLightsFloor{100'000};

/// Bands of jobs at the NICs of server hosts, for the parameters that they send.
struct TensorLightsConfig {
  TensorLightsMode mode = TensorLightsMode::kOff;
  Duration interval = std::chrono::seconds(20);  ///< kRotate, > 0
  std::uint32_t bands = 7;                       ///< 1 to 63
};

inline constexpr auto kTensorLightsModes =
    choices<TensorLightsMode>({{"off", TensorLightsMode::kOff},
                               {"one", TensorLightsMode::kOne},
                               {"rotate", TensorLightsMode::kRotate}});

void describe(Settings& v, TensorLightsConfig& c);

}  // namespace outrider::tg
