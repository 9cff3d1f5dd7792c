#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/core/clock.h"
#include "common/core/units.h"
#include "switch/config/config.h"
#include "trafficgen/config/config.h"

namespace outrider::lab {

/// std::monostate: a setting without a value, for which the program has no default.
using ParameterValue = std::variant<bool, std::int64_t, double, std::string, std::monostate>;

/// Parameters of a case, in the order of the experiment's schema, then the programs' settings
/// that its experiment sets anywhere, by their dotted keys (program_settings.h).
using Parameters = std::vector<std::pair<std::string, ParameterValue>>;

enum class Runtime : std::uint8_t { kVirtual, kLoopback, kTestbed };

constexpr const char* name_of(Runtime runtime) noexcept {
  constexpr const char* kNames[]{"virtual", "loopback", "testbed"};
  return kNames[static_cast<std::size_t>(runtime)];
}

/// One run to be made: an arm at one point of the matrix with one seed. All
/// runtimes execute the same two configurations; they differ only in what the
/// devices that join them are.
struct Case {
  std::string label;  ///< begins with "off" or "on"
  Parameters parameters;
  std::uint64_t seed = 1;
  sw::SwitchProcessConfig switches;
  tg::GeneratorConfig traffic;
  std::string measured_queue;  ///< "switch.port", whose metrics are the headline
  Duration base_rtt{};         ///< worker to server and back, empty network, propagation only
  BitRate bottleneck{};        ///< of the measured queue
  std::uint32_t background_flows = 0;
  std::uint32_t workers = 0;
  std::uint32_t skip_iterations = 0;  ///< of every job: not measured
  Duration cost_window{};             ///< T of the background's cost; zero: see background_costs()
};

}  // namespace outrider::lab
