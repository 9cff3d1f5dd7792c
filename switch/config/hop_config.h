#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/config/checks.h"
#include "common/config/config_binding.h"

namespace outrider::sw {

/// Which packets a switch writes hop records into, see common/net/hop_trace.h.
struct HopRecordConfig {
  std::optional<std::uint16_t> udp_port{};  ///< that probes go to, > 0; absent: none
  std::optional<std::uint16_t>
      id{};  ///< of the switch in its records; absent: its place in the file
};

/// What a switch calls itself in its records. @param place in the file, from 0
[[nodiscard]] inline std::uint16_t hop_id_of(const HopRecordConfig& hops,
                                             std::size_t place) noexcept {
  return hops.id.value_or(static_cast<std::uint16_t>(place));
}

void check(const Checks& at, const HopRecordConfig& hops);

void describe(Settings& v, HopRecordConfig& c);

}  // namespace outrider::sw
