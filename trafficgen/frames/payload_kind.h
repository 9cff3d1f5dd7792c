#pragma once

#include <cstdint>

#include "common/config/config_binding.h"

namespace outrider::tg {

/// The content of emulated hosts' data bytes.
enum class Payload : std::uint8_t {
  kZeros,    ///< nothing is written and nothing checked: the fast way
  kPattern,  ///< follows from the offset in the stream; receivers check every byte
};

inline constexpr auto kPayloads =
    choices<Payload>({{"zeros", Payload::kZeros}, {"pattern", Payload::kPattern}});

}  // namespace outrider::tg
