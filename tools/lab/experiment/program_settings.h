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
/// A key with a dot is a setting of a program, under the names of docs/configuration.md:
///
/// | key | sets |
/// |---|---|
/// | `switch.*` | `[[switch]]` of outrider-switch; `queue`, `marker`, `regulation`: of every port |
/// | `transport.*` | `[[transport]]` of outrider-trafficgen, every one over TCP |
/// | `ddl.transport.*`, `background.transport.*` | the same of the job's, of background's alone |
/// | `job.*` | `[[job]]`, of every job |
/// | `tensorlights.*` | `[tensorlights]` |
///
/// The programs' own readers read them, so that the lab knows no setting by its name. Only
/// those that a parameter of the experiment already sets are refused. A duration may be
/// given in round trips, `"4rtt"`: one is network.rtt of the experiment.

/// What the settings of a case come to; the plan adds topology and parameters.
struct ProgramSettings {
  sw::SwitchConfig sw;            ///< with one port, as all are
  tg::TransportConfig transport;  ///< what both sides share over TCP
  tg::TransportConfig ddl, background;
  tg::JobConfig job;
  tg::TensorLightsConfig tensorlights;
};

/// First components of settings' names.
inline constexpr std::string_view kSettingRoots[]{"switch",     "transport", "ddl",
                                                  "background", "job",       "tensorlights"};

/// Parameters of an experiment have no dot in their names.
constexpr bool is_setting(std::string_view name) noexcept {
  return name.find('.') != std::string_view::npos;
}

/// `rtts` base RTTs.
Duration rtts_to_duration(double rtts, Duration rtt);

/// `"switch.queue.limit_packets" = 60` as `[switch.queue]`, as TOML has it without quotes.
ConfigTable with_nested_keys(const ConfigTable& table);

/// Values that are no table, by their dotted keys, in order: the opposite.
std::vector<std::pair<std::string, ConfigValue>> with_dotted_keys(const ConfigTable& table);

/// Sets in `into` what `over` has, key by key.
void overlay(ConfigTable& into, const ConfigTable& over);

/// Faults of the settings in one table of the experiment, each by `path` and its whole key:
/// unknown names, values of another type, and those that a parameter sets.
/// @param table with nested keys; what is no setting is left alone
void check_settings(const ConfigTable& table, const std::string& path, Duration rtt,
                    ConfigIssues& issues);

/// @param settings all that a case has, laid over each other
/// @param protocol of the job: over bounded loss it takes nothing from `transport`, over TCP
///                 nothing from `ddl.transport.mlt`
ProgramSettings read_settings(const ConfigTable& settings, tg::TransportProtocol protocol,
                              Duration rtt, ConfigIssues& issues);

/// All of them as the programs would write them, by the keys of the experiment.
ConfigTable to_table(const ProgramSettings& settings);

/// The setting of `table` as the program has it; std::monostate if it has no value.
/// @param table of to_table()
ParameterValue setting_value(const ConfigTable& table, const std::string& name);

}  // namespace outrider::lab
