#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/config/checks.h"
#include "common/config/config_binding.h"

namespace outrider::sw {

/// Says into which packets a switch writes hop records: into probes (common/net/hop_trace.h), and
/// into packets of RoCEv2 that carry telemetry (common/net/roce_telemetry.h).
struct HopRecordConfig {
  std::optional<std::uint16_t> udp_port{};  ///< destination port of probes, > 0; absent: no records
  std::optional<std::uint16_t>
      id{};  ///< identifies the switch in its records; absent: its place in the file
  bool roce = false;

  /// Returns whether it writes any.
  [[nodiscard]] bool on() const noexcept { return udp_port || roce; }
  bool operator==(const HopRecordConfig&) const = default;
};

/// Returns the number that identifies the switch in its records.
/// @param place  of the switch in the file, from 0
[[nodiscard]] inline std::uint16_t hop_id_of(const HopRecordConfig& hops,
                                             std::size_t place) noexcept {
  return hops.id.value_or(static_cast<std::uint16_t>(place));
}

void check(const Checks& at, const HopRecordConfig& hops);

void describe(Settings& v, HopRecordConfig& c);

}  // namespace outrider::sw
