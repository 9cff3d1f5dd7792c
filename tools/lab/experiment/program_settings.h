#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/config/config_value.h"
#include "common/core/clock.h"
#include "common/core/config_issue.h"
#include "switch/config/config.h"
#include "tools/lab/experiment/background_group.h"
#include "tools/lab/experiment/case.h"
#include "trafficgen/config/config.h"

namespace outrider::lab {

/// # Overlays on the programs' configurations
///
/// A key with a dot in [parameters], an arm or a sweep lies over a setting of a program, by its
/// name in docs/configuration.md:
///
/// | key | lies over |
/// |---|---|
/// | `switch.*` | `[[switch]]` of outrider-switch; `queue`, `marker`, `regulation`: of every port |
/// | `switch.scheduler` | that of every port; with one, ports have two queues: see QueueRoles |
/// | `switch.flowlet_gap` | that of every route with several ports, with `paths = "flowlets"` |
/// | `switch.ddl_queue.*`, `switch.background_queue.*` | `[[switch.port.queues]]` of each role |
/// | `transport.*` | every `[[transport]]` of outrider-trafficgen over TCP |
/// | `ddl.transport.*`, `background.transport.*` | only that of the job or of background |
/// | `background.*` | the flows between the hosts of [background]: see BackgroundFlows |
/// | `requests.*` | `[[requests]]` between these hosts |
/// | `job.*` | every `[[job]]` |
/// | `tensorlights.*` | `[tensorlights]` |
/// | `trafficgen.*` | the generator's own: `send_jitter`, `attribution`, ... |
///
/// The programs' own readers read these settings, so the lab has no list of their names. It
/// rejects only what follows from the topology, from roles, or from a parameter. A value may name a
/// quantity of the experiment: a duration in round trips, `"4rtt"`, where one is network.rtt;
/// `"h"`, the parameter h_packets; and a multiple of switch.marker.threshold_packets, `"2K"`.

/// The scheduler that shares a link between the queues of two roles.
enum class LabScheduler : std::uint8_t {
  kFifo,         ///< one queue has both
  kStrict,       ///< DDL data first
  kDwrr,         ///< they share the link by their weights
  kStrictFloor,  ///< DDL data first, except for the floor of background
};

inline constexpr auto kLabSchedulers =
    choices<LabScheduler>({{"fifo", LabScheduler::kFifo},
                           {"strict", LabScheduler::kStrict},
                           {"dwrr", LabScheduler::kDwrr},
                           {"strict_floor", LabScheduler::kStrictFloor}});

/// The overlay of one of two queues. It begins as a copy of the one queue of `switch.queue`,
/// `switch.marker` and `switch.regulation`.
struct QueueRole {
  double floor = 0;   ///< `strict_floor`: share of the link that it is guaranteed; 0: none
  ConfigTable own{};  ///< keys of `[[switch.port.queues]]`
};

struct QueueRoles {
  LabScheduler scheduler = LabScheduler::kFifo;
  bool share_limit = false;  ///< the two have together what one would have
  QueueRole ddl{};
  QueueRole background{};
};

/// Protocols that may carry background.
enum class LabBackgroundProtocol : std::uint8_t {
  kTcp,
  kRoce,  ///< RoCEv2: long flows, and flows with sizes
  kBoth,  ///< as many long flows of each, and half of the load
};

inline constexpr auto kLabBackgroundProtocols =
    choices<LabBackgroundProtocol>({{"tcp", LabBackgroundProtocol::kTcp},
                                    {"roce", LabBackgroundProtocol::kRoce},
                                    {"both", LabBackgroundProtocol::kBoth}});

/// What the hosts of [background] send. A list [[background]] has groups of its own instead.
struct BackgroundFlows {
  /// Long flows of each pair of hosts. Absent: one, or none beside a load, a list, a capture or
  /// requests: who asks for a load must not get a flow that fills the link.
  std::optional<std::uint32_t> flows_per_pair{};
  /// Share of the measured link, headers and payload, that flows with sizes offer; in a fabric, of
  /// the NICs that send.
  double load = 0;
  std::string sizes{};    ///< CDF file of their sizes, or a name in conf/distributions
  std::string list{};     ///< flow list; empty: none
  std::string capture{};  ///< pcap or pcapng file, whose frames are played open loop; empty: none
  LabBackgroundProtocol protocol = LabBackgroundProtocol::kTcp;
  LabRoceQueue queue = LabRoceQueue::kBackground;  ///< over RoCEv2
  /// Connections over RoCEv2 between two hosts that flows with sizes share; absent: as many as
  /// there are flows at once, see tg::FlowsConfig
  std::optional<std::uint32_t> queue_pairs{};
  Duration start_spread{std::chrono::seconds(1)};  ///< time in which long flows start
};

/// Settings of the generator as a whole that an experiment may give.
struct TrafficSettings {
  double send_jitter = 1;
  bool attribution = false;                            ///< virtual time only
  std::optional<Duration> connection_sample_period{};  ///< absent: none are taken
};

/// The value of job.announce.signal_key with which the plan makes a key for each job.
inline constexpr const char* kAutoKey = "auto";

/// The resolved settings of a case. The plan adds topology and parameters.
struct ProgramSettings {
  sw::SwitchConfig sw;  ///< has one port, the pattern for all ports
  QueueRoles queues;
  std::optional<Duration> flowlet_gap{};
  tg::TransportConfig transport;  ///< settings that job and background share over TCP
  tg::TransportConfig ddl, background;
  /// Of background over another protocol than TCP, if there is any: RoCEv2, or that of a group
  tg::TransportConfig background_roce;
  BackgroundFlows flows;
  tg::JobConfig job;
  bool lead_is_auto =
      false;  ///< job.announce.lead is "auto": lead_by_rule() where windows are held
  tg::TensorLightsConfig tensorlights;
  tg::RequestFlowsConfig requests;  ///< of background; 0 connections: there are none
  TrafficSettings traffic;

  /// Returns whether each job has a key and signs its STARTs.
  [[nodiscard]] bool signs() const {
    return job.announce.signal_key && !job.announce.signal_key->empty();
  }
  /// The pattern's policy.
  [[nodiscard]] const RegulationPolicy& regulation() const { return sw.ports.front().regulation; }
  [[nodiscard]] RegulationMode mode() const { return regulation().mode; }
  /// Returns whether switches act on STARTs: an arm with either is a regulated one.
  [[nodiscard]] bool grants() const { return regulation().grant.order != GrantOrder::kOff; }
  [[nodiscard]] bool regulates() const { return mode() != RegulationMode::kOff || grants(); }
  [[nodiscard]] bool two_queues() const { return queues.scheduler != LabScheduler::kFifo; }
};

/// The first components of settings' names.
inline constexpr std::string_view kSettingRoots[]{
    "switch", "transport", "ddl", "background", "job", "tensorlights", "requests", "trafficgen"};

/// Says whether `name` is a setting: its name has a dot, a parameter's name has none.
constexpr bool is_setting(std::string_view name) noexcept {
  return name.find('.') != std::string_view::npos;
}

/// Returns what says a setting that an experiment must not give, such as "warm_up_seconds" for
/// "job.first_due"; empty if nothing does.
std::string_view parameter_of(const std::string& setting);

/// Returns the duration of `rtts` times `rtt`.
Duration rtts_to_duration(double rtts, Duration rtt);

/// Returns `table` with each dotted key, such as `"switch.queue.limit_packets"`, as nested
/// tables, which is how TOML reads the key without quotes.
ConfigTable with_nested_keys(const ConfigTable& table);

/// Does the opposite: returns the values that are not tables by their dotted keys, in order.
std::vector<std::pair<std::string, ConfigValue>> with_dotted_keys(const ConfigTable& table);

/// Returns the table at a path such as "job.announce"; an empty one if there is none.
const ConfigTable& table_in(const ConfigTable& table, std::string_view path);

/// Calls f(table, index) for each [[key]] of a file.
template <class File, class F>
void for_each_table(File& file, std::string_view key, F f) {
  for (auto& [name, list] : file.members) {
    if (name != key || !is_array_of_tables(list)) continue;
    auto& tables = *list.template as<ConfigValue::Array>();
    for (std::size_t i = 0; i < tables.size(); ++i) f(*tables[i].template as<ConfigTable>(), i);
  }
}

/// Takes the list [[key]] out of a file, if it has one; a table [key] stays.
std::optional<ConfigValue> take_list(ConfigTable& file, std::string_view key);

/// Copies every value of `over` to `into`, key by key.
void overlay(ConfigTable& into, const ConfigTable& over);

/// The quantities that a value may name.
struct Quantities {
  Duration rtt{std::chrono::microseconds(1)};
  std::uint16_t h_packets = 10;
  std::uint32_t threshold_packets = sw::MarkerConfig{}.threshold_packets;
};

/// Returns `table` with values in the place of the quantities that it names.
ConfigTable with_quantities(ConfigTable table, const Quantities& quantities);

/// Reports the faults of the settings in one table of the experiment, each by `path` and its
/// whole key: unknown names, values of a wrong type, and settings that something else says.
/// @param table with nested keys; keys that are not settings are ignored
void check_settings(const ConfigTable& table, const std::string& path, const Quantities& quantities,
                    ConfigIssues& issues);

/// Reads the settings of a case. With bounded loss the job ignores `transport`, with TCP it ignores
/// `ddl.transport.mlt`. Likewise background over TCP ignores `background.transport.roce`, and that
/// over RoCEv2 all but it and the priority.
/// @param settings all settings of the case, already merged
ProgramSettings read_settings(const ConfigTable& settings, const Quantities& quantities,
                              ConfigIssues& issues);

/// Says whether a key of a transport is the table of a protocol, which has its name: "roce".
bool is_table_of_protocol(std::string_view key);

/// Lays the overlay of a role over a queue.
sw::PortQueueConfig queue_of(const QueueRole& role, sw::PortQueueConfig queue);

void describe(Settings& v, QueueRole& c);
void describe(Settings& v, BackgroundFlows& c);
void describe(Settings& v, TrafficSettings& c);

/// Returns all settings as the programs would write them, by the keys of the experiment.
ConfigTable to_table(const ProgramSettings& settings);

/// Returns a value as cases list it: an array as its text.
ParameterValue to_parameter_value(const ConfigValue& value);

/// Returns the value of one setting; std::monostate if it has none.
/// @param table as to_table() makes it
ParameterValue setting_value(const ConfigTable& table, const std::string& name);

}  // namespace outrider::lab
