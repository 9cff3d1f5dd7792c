#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/config/config_value.h"
#include "common/core/config_issue.h"

namespace outrider::lab {

/// How a value changes with its key.
enum class ReplacedUnit : std::uint8_t {
  kSame,
  kSeconds,  ///< 0.02 is "20ms"
  kRtts,     ///< 2 is "2rtt"; "auto" stays
  kThere,    ///< true is the value `to`, false is ""
  kClasses,  ///< a number of classes is the list of their DSCPs
  kShared,   ///< "split": two queues have the limit of one
};

/// A parameter of the earlier language, and what says the same now.
struct Replaced {
  std::string_view was;
  std::string_view is;
  ReplacedUnit unit = ReplacedUnit::kSame;
  std::string_view to{};
};

/// Says what replaces [matrix].
inline constexpr const char* kNoMatrix =
    "is gone: write an [[arm]] for each value of the regulator, and the other lists in a [[sweep]]";

/// Returns the row of a parameter, or of a key of [front]; nullptr: it is none.
const Replaced* replaced(std::string_view name);
const Replaced* replaced_of_front(std::string_view name);

/// Returns a value in the new key's terms, or a list with each of its values; nothing if a person
/// has to say it.
std::optional<ConfigValue> value_now(const Replaced& row, const ConfigValue& v);

/// Where a parameter stands.
enum class ParameterPlace : std::uint8_t {
  kCase,    ///< of a whole case: [parameters], [[arm]], [[sweep]], [[search.family]]
  kJob,     ///< [[job]] of a list, where a key is the job's own: "period" is job.period
  kColumn,  ///< a column of a list of jobs; `convert` rewrites neither this
  kPreset,  ///< nor this
};

/// Returns the key in a place of what replaces a parameter.
std::string_view key_now(const Replaced& row, ParameterPlace place);

/// Says what replaces a parameter of the earlier language: "is switch.regulation.mode now:
/// `outrider-lab convert FILE` rewrites the file"; empty if `name` is no such parameter.
std::string replaced_parameter(std::string_view name, ParameterPlace place = ParameterPlace::kCase);

/// Takes [front], [matrix], [[vary]] and [[cross]] out of an experiment, and adds a fault for each.
void refuse_old_sweeps(ConfigTable& experiment, ConfigIssues& issues);

/// Returns the table without such parameters, and adds a fault for each.
ConfigTable without_replaced(const ConfigTable& table, const std::string& path,
                             ConfigIssues& issues, ParameterPlace place = ParameterPlace::kCase);

}  // namespace outrider::lab
