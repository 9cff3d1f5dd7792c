#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/config/config_value.h"
#include "common/core/clock.h"
#include "common/core/config_issue.h"
#include "switch/config/config.h"
#include "tools/lab/experiment/case.h"
#include "trafficgen/config/config.h"

namespace outrider::lab {

/// # Settings of the programs in an experiment
///
/// A key with a dot sets a setting of a program by its name in docs/configuration.md:
///
/// | key | sets |
/// |---|---|
/// | `switch.*` | `[[switch]]` of outrider-switch; `queue`, `marker`, `regulation`: of every port |
/// | `transport.*` | every `[[transport]]` of outrider-trafficgen over TCP |
/// | `ddl.transport.*`, `background.transport.*` | only that of the job or of background |
/// | `job.*` | every `[[job]]` |
/// | `tensorlights.*` | `[tensorlights]` |
/// | `requests.*` | `[[requests]]` between the hosts of background |
///
/// The programs' own readers read these settings, so the lab has no list of their names. It
/// rejects only settings that a parameter of the experiment already sets. A duration may be
/// given in round trips, `"4rtt"`; one round trip is network.rtt of the experiment.

/// The resolved settings of a case. The plan adds topology and parameters.
struct ProgramSettings {
  sw::SwitchConfig sw;            ///< has one port, the pattern for all ports
  tg::TransportConfig transport;  ///< settings that job and background share over TCP
  tg::TransportConfig ddl, background;
  /// Of background over another protocol than TCP, if there is any: RoCEv2, or that of a group
  tg::TransportConfig background_roce;
  tg::JobConfig job;
  tg::TensorLightsConfig tensorlights;
  tg::RequestFlowsConfig requests;  ///< of background; 0 connections: there are none
};

/// The first components of settings' names.
inline constexpr std::string_view kSettingRoots[]{"switch", "transport",    "ddl",     "background",
                                                  "job",    "tensorlights", "requests"};

/// Says whether `name` is a setting: its name has a dot, a parameter's name has none.
constexpr bool is_setting(std::string_view name) noexcept {
  return name.find('.') != std::string_view::npos;
}

/// Returns the parameter that sets a setting of the programs, such as "recovery" for
/// "switch.regulation.recovery"; empty if no parameter does.
std::string_view parameter_of(const std::string& setting);

/// Returns the duration of `rtts` times `rtt`.
Duration rtts_to_duration(double rtts, Duration rtt);

/// Returns `table` with each dotted key, such as `"switch.queue.limit_packets"`, as nested
/// tables, which is how TOML reads the key without quotes.
ConfigTable with_nested_keys(const ConfigTable& table);

/// Does the opposite: returns the values that are not tables by their dotted keys, in order.
std::vector<std::pair<std::string, ConfigValue>> with_dotted_keys(const ConfigTable& table);

/// Copies every value of `over` to `into`, key by key.
void overlay(ConfigTable& into, const ConfigTable& over);

/// Reports the faults of the settings in one table of the experiment, each by `path` and its
/// whole key: unknown names, values of a wrong type, and settings that a parameter sets.
/// @param table with nested keys; keys that are not settings are ignored
void check_settings(const ConfigTable& table, const std::string& path, Duration rtt,
                    ConfigIssues& issues);

/// Reads the settings of a case.
/// @param settings all settings of the case, already merged
/// @param protocol of the job: with bounded loss the job ignores `transport`, with TCP it
///                 ignores `ddl.transport.mlt`. Likewise background over TCP ignores
///                 `background.transport.roce`, and that over RoCEv2 all but it and the priority
ProgramSettings read_settings(const ConfigTable& settings, tg::TransportProtocol protocol,
                              Duration rtt, ConfigIssues& issues);

/// Says whether a key of a transport is the table of a protocol, which has its name: "roce".
bool is_table_of_protocol(std::string_view key);

/// Returns whether the settings make switches grant bursts: an arm with them is no off arm,
/// whatever its regulation is.
bool grants_bursts(const ConfigTable& settings);

/// Returns all settings as the programs would write them, by the keys of the experiment.
ConfigTable to_table(const ProgramSettings& settings);

/// Returns the value of one setting; std::monostate if it has none.
/// @param table as to_table() makes it
ParameterValue setting_value(const ConfigTable& table, const std::string& name);

}  // namespace outrider::lab
