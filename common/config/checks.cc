#include "common/config/checks.h"

#include "common/config/toml_text.h"
#include "common/core/shortened.h"

namespace outrider {
namespace {

std::string shown(double v) { return to_toml_text(ConfigValue(v)); }

}  // namespace

void Checks::fault(std::string_view key, std::string_view value, std::string_view rule) const {
  fault(key, std::string(value).append(": ").append(rule));
}

void Checks::fault(std::string_view key, std::string_view problem) const {
  issues_.push_back({key.empty() ? path_ : join_key(path_, key), std::string(problem)});
}

void Checks::faults_of_file(std::string_view key, std::string_view file,
                            const ConfigIssues& found) const {
  for (const auto& issue : found)
    fault(key, quoted(file), issue.key + (issue.key.empty() ? "" : ": ") + issue.problem);
  issues_.count_unkept(found);
}

bool Checks::in_range(std::string_view key, std::uint64_t v, std::uint64_t low, std::uint64_t high,
                      std::string_view unit) const {
  if (v >= low && v <= high) return true;
  std::string value = std::to_string(v);
  if (!unit.empty()) (value += ' ').append(unit);
  fault(key, value,
        v < low ? "must be at least " + std::to_string(low)
                : "must be at most " + std::to_string(high));
  return false;
}

bool Checks::positive(std::string_view key, Duration v) const {
  return require(v > Duration::zero(), key, format_duration(v), "must be longer than zero");
}

bool Checks::not_negative(std::string_view key, Duration v) const {
  return require(v >= Duration::zero(), key, format_duration(v), "must not be negative");
}

bool Checks::in_interval(std::string_view key, double v, double low, double high,
                         bool closed) const {
  const bool holds = (closed ? v >= low : v > low) && v <= high;
  return require(holds, key, shown(v),
                 (closed ? "must be at least " : "must be more than ") + shown(low) +
                     " and at most " + shown(high));
}

bool Checks::rate(std::string_view key, BitRate v) const {
  return require(v.bits_per_second > 0 && v <= kMaxRate, key, format_rate(v),
                 "must be more than 0bit and at most " + format_rate(kMaxRate));
}

std::string Checks::quoted(std::string_view text) {
  return to_toml_text(ConfigValue(shortened(text, kShownValue_bytes)));
}

}  // namespace outrider
