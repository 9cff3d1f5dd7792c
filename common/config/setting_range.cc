#include "common/config/setting_range.h"

#include <bit>
#include <cmath>

#include "common/config/config_value.h"
#include "common/config/quantities.h"
#include "common/config/toml_text.h"

namespace outrider {
namespace {

std::string rounded_text(double v) { return to_toml_text(ConfigValue(v)); }

std::string quoted(const std::string& text) { return "`\"" + text + "\"`"; }

Duration duration_of(std::uint64_t ns) { return Duration(static_cast<Duration::rep>(ns)); }

/// Formats a bound as a person writes it: "1", not "1.0".
std::string plain(double v) {
  std::string text = rounded_text(v);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::string integer_rule(const SettingRange& r, bool too_low) {
  if (r.of == SettingRange::Of::kPowersOfTwo)
    return "must be a power of two, " + std::to_string(r.low) + " to " + std::to_string(r.high);
  return too_low ? "must be at least " + std::to_string(r.low)
                 : "must be at most " + std::to_string(r.high);
}

std::string integer_breach(const SettingRange& r, std::string value, bool too_low) {
  if (!r.unit.empty()) (value += ' ').append(r.unit);
  return value + ": " + integer_rule(r, too_low);
}

std::string bounds(const SettingRange& r, const std::string& low, const std::string& high) {
  const bool bounded = r.of == SettingRange::Of::kReals ? std::isfinite(r.real_high)
                                                        : r.high != SettingRange::kUnbounded;
  if (!bounded) {
    if (r.above_low) return "above " + low;
    return r.of == SettingRange::Of::kIntegers ? "at least " + low : low + " or more";
  }
  return (r.above_low ? "above " : "") + low + (r.below_high ? " to below " : " to ") + high;
}

}  // namespace

std::string SettingRange::breach(std::uint64_t value) const {
  if (of != Of::kIntegers && of != Of::kPowersOfTwo) return {};
  const bool fits = of == Of::kIntegers || std::has_single_bit(value);
  if (value >= low && value <= high && fits) return {};
  return integer_breach(*this, std::to_string(value), value < low);
}

std::string SettingRange::breach(std::int64_t value) const {
  if (value >= 0 || of == Of::kAnything) return breach(static_cast<std::uint64_t>(value));
  return integer_breach(*this, std::to_string(value), true);
}

std::string SettingRange::breach(double value) const {
  if (of != Of::kReals) return {};
  const bool enough = above_low ? value > real_low : value >= real_low;
  const bool not_too_much = below_high ? value < real_high : value <= real_high;
  if (enough && not_too_much) return {};
  std::string rule =
      (above_low ? "must be more than " : "must be at least ") + rounded_text(real_low);
  if (std::isfinite(real_high))
    rule += (below_high ? " and less than " : " and at most ") + rounded_text(real_high);
  return rounded_text(value) + ": " + rule;
}

std::string SettingRange::breach(Duration value) const {
  if (of != Of::kDurations) return {};
  const Duration least = duration_of(low);
  const std::string text = format_duration(value) + ": ";
  if (above_low && value <= least) return text + "must be longer than zero";
  if (value < least)
    return text +
           (low == 0 ? "must not be negative" : "must be at least " + format_duration(least));
  if (high != kUnbounded && value > duration_of(high))
    return text + "must be at most " + format_duration(duration_of(high));
  return {};
}

std::string SettingRange::breach(BitRate value) const {
  if (of != Of::kRates) return {};
  const std::uint64_t bits = value.bits_per_second;
  if (bits <= high && (above_low ? bits > low : bits >= low)) return {};
  return format_rate(value) + ": must be more than " + format_rate({low}) + " and at most " +
         format_rate({high});
}

std::string SettingRange::text() const {
  const auto number = [](std::uint64_t v) { return std::to_string(v); };
  const auto duration = [](std::uint64_t ns) {
    return ns == 0 ? "0" : quoted(format_duration(duration_of(ns)));
  };
  switch (of) {
    case Of::kAnything:
      return {};
    case Of::kIntegers:
      return bounds(*this, number(low), number(high)) +
             (unit.empty() ? "" : " [" + std::string(unit) + "]");
    case Of::kPowersOfTwo:
      return "power of two, " + number(low) + " to " + number(high);
    case Of::kReals:
      return bounds(*this, plain(real_low), plain(real_high));
    case Of::kDurations:
      return bounds(*this, duration(low), duration(high));
    case Of::kRates:
      return bounds(*this, low == 0 ? "0" : quoted(format_rate({low})),
                    quoted(format_rate({high})));
  }
  return {};
}

}  // namespace outrider
