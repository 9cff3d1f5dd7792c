#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/config/config_value.h"
#include "common/config/quantities.h"
#include "common/config/setting_range.h"
#include "common/core/clock.h"
#include "common/core/config_issue.h"

namespace outrider {

/// Helps to write validate() of a configuration: states rules on the settings below one key
/// path, and records the broken ones. Cheap to copy.
///
///     void check(const Checks& at, const QueueConfig& q) {
///       at.in_range("limit_packets", q.limit_packets, 1, kMaxQueue_packets, "packets");
///     }
///     check(at.below("queue"), port.queue);
class Checks {
 public:
  /// @param issues  must outlive this and everything below()
  explicit Checks(ConfigIssues& issues, std::string path = {})
      : issues_(issues), path_(std::move(path)) {}

  [[nodiscard]] Checks below(std::string_view key) const {
    return Checks(issues_, join_key(path_, key));
  }
  [[nodiscard]] Checks below(std::string_view key, std::size_t index) const {
    return Checks(issues_, join_key(path_, key, index));
  }

  void fault(std::string_view key, std::string_view value, std::string_view rule) const;
  /// Records an error that is not one of a value: something is missing or not allowed.
  void fault(std::string_view key, std::string_view problem) const;

  /// Records the errors of a file that a setting names.
  void faults_of_file(std::string_view key, std::string_view file, const ConfigIssues& found) const;

  /// @return whether the rule holds
  bool require(bool holds, std::string_view key, std::string_view value,
               std::string_view rule) const {
    if (!holds) fault(key, value, rule);
    return holds;
  }

  /// Requires low <= v <= high; the unit, if any, follows the value in the message.
  bool in_range(std::string_view key, std::uint64_t v, std::uint64_t low, std::uint64_t high,
                std::string_view unit = {}) const;
  bool positive(std::string_view key, Duration v) const;
  bool not_negative(std::string_view key, Duration v) const;
  /// Requires low < v <= high, or low <= v <= high if `closed`. NaN fails.
  bool in_interval(std::string_view key, double v, double low, double high, bool closed) const;
  bool rate(std::string_view key, BitRate v) const;

  /// Returns the parsed value, or records the problem that its parser reports.
  template <class T>
  std::optional<T> parses(std::string_view key, std::string_view text, Parsed<T> parsed) const {
    if (!parsed.value) fault(key, quoted(text), parsed.problem);
    return parsed.value;
  }

  static std::string quoted(std::string_view text);

 private:
  ConfigIssues& issues_;
  std::string path_;
};

/// Checks that values are unique: add() reports a repeated value with its first holder.
template <class T>
class UniqueValues {
 public:
  /// @param key  of the setting that holds the value, relative to `at`
  void add(const Checks& at, std::string_view key, const T& value, const std::string& shown,
           const std::string& holder) {
    const auto [it, inserted] = holders_.try_emplace(value, holder);
    if (!inserted) at.fault(key, shown, "is also that of " + it->second);
  }

 private:
  std::map<T, std::string> holders_;
};

}  // namespace outrider
