#pragma once

#include <array>
#include <cstdint>

namespace outrider {

/// A secret that signs iteration-start signals. Announcers and switches share it.
struct SignalKey {
  std::uint8_t id = 0;  ///< in clear in each message, so that a switch knows which key to try
  std::array<std::uint8_t, 16> secret{};
};

}  // namespace outrider
