#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/config/config_binding.h"
#include "common/core/clock.h"
#include "common/core/units.h"
#include "switch/config/config.h"
#include "trafficgen/config/config.h"

namespace outrider::lab {

/// The value of a parameter or setting. std::monostate stands for a setting without a value,
/// for which the program has no default.
using ParameterValue = std::variant<bool, std::int64_t, double, std::string, std::monostate>;

/// The parameters of a case in the order of the experiment's schema, followed by the programs'
/// settings that its experiment sets anywhere, by their dotted keys (program_settings.h).
using Parameters = std::vector<std::pair<std::string, ParameterValue>>;

enum class Runtime : std::uint8_t { kVirtual, kLoopback, kTestbed };

constexpr const char* name_of(Runtime runtime) noexcept {
  constexpr const char* kNames[]{"virtual", "loopback", "testbed"};
  return kNames[static_cast<std::size_t>(runtime)];
}

/// What an arm is in a comparison.
enum class ArmRole : std::uint8_t {
  kBaseline,  ///< others may be compared with it; the first of a file is that of all its points
  kRemedy,
};

inline constexpr auto kArmRoles =
    choices<ArmRole>({{"baseline", ArmRole::kBaseline}, {"remedy", ArmRole::kRemedy}});

constexpr const char* name_of(ArmRole role) noexcept {
  return kArmRoles[static_cast<std::size_t>(role)].name.data();
}

/// Stands for the queue of a run in which packets of bursts wait longest, all taken together.
inline constexpr const char* kWorstQueue = "worst";

/// What the switches of a case are from an instant on.
struct NetworkChange {
  Time at{};
  sw::SwitchProcessConfig switches{};  ///< differs from the one before as a reload may
};

/// Records of a run that its figures do not need. Ports are each "switch.port".
struct Observed {
  std::vector<std::string> queues{};       ///< their queues over time
  std::vector<std::string> captures{};     ///< their packets; in virtual time alone
  Duration capture_from{};                 ///< of virtual time
  std::uint32_t capture_packets = 10'000;  ///< of each port, at most
  std::uint32_t flows = 0;                 ///< of each group of background, at most
  std::uint32_t requests = 0;              ///< the same
};

/// Describes one run: an arm at one point of the matrix with one seed. All runtimes
/// execute the same two configurations; they differ only in the devices that join
/// the switches and the hosts.
struct Case {
  std::string label;
  ArmRole role = ArmRole::kRemedy;
  Parameters parameters;
  /// What the point of a sweep makes of [parameters], by name: empty at the point of [parameters].
  /// An arm's own settings are no part of it.
  Parameters point{};
  std::string against{};  ///< label of the arm that it is compared with; see points_of()
  std::string off{};      ///< label of the arm that all of its point are compared with too
  std::uint64_t seed = 1;
  sw::SwitchProcessConfig switches;
  std::vector<NetworkChange> changes{};  ///< in the order of time; in virtual time alone
  tg::GeneratorConfig traffic;
  /// "switch.port" whose queue gives the headline metrics, or kWorstQueue
  std::string measured_queue;
  Duration base_rtt{};   ///< worker to server and back in an empty network, propagation only
  BitRate bottleneck{};  ///< rate of the link behind the measured queue
  bool has_job = true;   ///< false: background alone, whose flows are what is measured
  std::uint32_t background_flows = 0;  ///< long flows whose data cross the measured queue
  /// Names of the groups of background, whose rows in `traffic` have these names, with "_back" for
  /// what flows back; empty: the file has no groups
  std::vector<std::string> background_groups{};
  std::uint32_t workers = 0;
  std::uint32_t skip_iterations = 0;  ///< first iterations of every job that are not measured
  Duration cost_window{};     ///< T of the background's cost; zero: background_costs() chooses
  bool link_results = false;  ///< a fabric's: each link and each job is reported
  bool link_series = false;   ///< and links over time. @pre link_results
  Observed observed{};
};

/// Returns the port of the measured queue. Where a run decides which is the worst, any port of the
/// hosts' switches has its settings: the first one. nullptr if the switches do not have the port.
const sw::SwitchPortConfig* find_port(const Case& definition);

}  // namespace outrider::lab
