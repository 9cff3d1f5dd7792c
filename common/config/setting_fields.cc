// The closed set of types that a setting may have, and how each is read, written and
// checked. It is compiled once, here, instead of wherever a struct states its rows.
#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <utility>

#include "common/config/checks.h"
#include "common/config/settings.h"
#include "common/config/suggestion.h"
#include "common/core/or_auto.h"
#include "common/core/quantity_bounds.h"

namespace outrider {
namespace detail {

std::string choose(const ConfigValue& v, const std::vector<std::string_view>& names,
                   std::size_t& index) {
  const auto* s = v.as<std::string>();
  const auto it = s == nullptr ? names.end() : std::ranges::find(names, *s);
  if (it != names.end()) {
    index = static_cast<std::size_t>(it - names.begin());
    return {};
  }
  std::string rule = "must be one of ";
  for (const auto name : names) (rule += name == names.front() ? "\"" : ", \"").append(name) += '"';
  return s == nullptr ? rule : rule + suggestion(*s, names);
}

std::string not_a_text(const ConfigValue& v, std::string_view wanted) {
  const bool number = v.as<std::int64_t>() || v.as<double>();
  return std::string(number ? "has no unit; " : "must be a string; ").append(wanted);
}

void check_nothing(const Setting&, const Checks&) {}

}  // namespace detail

namespace {

std::string read_value(const ConfigValue& v, bool& out) {
  const auto* b = v.as<bool>();
  if (b == nullptr) return "must be true or false";
  out = *b;
  return {};
}

std::string read_value(const ConfigValue& v, double& out) {
  if (const auto* i = v.as<std::int64_t>()) {
    std::string problem = number_problem(static_cast<double>(*i));
    if (problem.empty()) out = static_cast<double>(*i);
    return problem;
  }
  const auto* d = v.as<double>();
  if (d == nullptr) return "must be a finite number";
  std::string problem = number_problem(*d);
  if (problem.empty()) out = *d;
  return problem;
}

std::string read_value(const ConfigValue& v, std::string& out) {
  const auto* s = v.as<std::string>();
  if (s == nullptr) return "must be a string";
  out = *s;
  return {};
}

template <std::integral T>
std::string read_value(const ConfigValue& v, T& out) {
  constexpr auto kLow = static_cast<std::int64_t>(std::numeric_limits<T>::min());
  constexpr auto kHigh = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  const auto* i = v.as<std::int64_t>();
  if (i == nullptr) return "must be an integer";
  if (*i < kLow)
    return kLow == 0 ? "must not be negative" : "must be at least " + std::to_string(kLow);
  if (*i > 0 && static_cast<std::uint64_t>(*i) > kHigh)
    return "must be at most " + std::to_string(kHigh);
  out = static_cast<T>(*i);
  return {};
}

/// @param most  of a value that fits 64 bits
template <std::integral T>
std::string read_count(const ConfigValue& v, std::uint64_t most, T& out) {
  T given{};
  std::string problem = read_value(v, given);
  if (!problem.empty()) return problem;
  if (std::cmp_greater(given, most)) return "must be at most " + std::to_string(most);
  out = given;
  return {};
}

/// Returns whether the range has a bound of its own, as those of seeds have, which are no counts.
bool is_bounded(const SettingRange& r) {
  return r.of == SettingRange::Of::kIntegers && r.high != SettingRange::kUnbounded;
}

template <class T>
std::string read_text(const ConfigValue& v, T& out, Parsed<T> (*parse)(std::string_view)) {
  const auto* s = v.as<std::string>();
  if (s == nullptr) return detail::not_a_text(v, parse(std::string_view{}).problem);
  auto parsed = parse(std::string_view(*s));
  if (parsed.value) out = std::move(*parsed.value);
  return std::move(parsed.problem);
}

/// Returns whether a plain number is a size: then the key ends with the unit.
bool is_plain_size(const Setting& s) { return s.key.ends_with("_bytes"); }

template <std::unsigned_integral T>
std::string read_bytes(const Setting& s, const ConfigValue& v, T& out) {
  if (is_plain_size(s) && v.as<std::int64_t>()) return read_count(v, kLargestBytes, out);
  std::uint64_t wide = 0;
  std::string problem = read_text(v, wide, parse_bytes);
  if (!problem.empty()) return problem;
  if (wide > std::numeric_limits<T>::max())
    return "must be at most " + std::to_string(std::numeric_limits<T>::max());
  out = static_cast<T>(wide);
  return {};
}

template <class T>
inline constexpr bool kIsOrAuto = false;
template <class T>
inline constexpr bool kIsOrAuto<OrAuto<T>> = true;

constexpr std::string_view kAuto = "auto";

template <class T>
std::string read_scalar(const Setting& s, const ConfigValue& v, T& out) {
  if constexpr (kIsOrAuto<T>) {
    const auto* text = v.as<std::string>();
    if (text != nullptr && *text == kAuto) {
      out.value.reset();
      return {};
    }
    typename decltype(out.value)::value_type given{};
    std::string problem = read_scalar(s, v, given);
    if (problem.empty()) out.value = given;
    else problem += ", or \"auto\"";
    return problem;
  } else if constexpr (std::same_as<T, Duration>) {
    return read_text(v, out, parse_duration);
  } else if constexpr (std::same_as<T, BitRate>) {
    return read_text(v, out, parse_rate);
  } else {
    if constexpr (std::same_as<T, double>)
      if (s.kind == SettingKind::kShare && v.as<std::string>())
        return read_text(v, out, parse_percentage);
    if constexpr (std::unsigned_integral<T> && !std::same_as<T, bool>)
      if (s.kind == SettingKind::kBytes) return read_bytes(s, v, out);
    if constexpr (std::integral<T> && !std::same_as<T, bool>)
      if (!is_bounded(s.about.range)) return read_count(v, kLargestCount, out);
    return read_value(v, out);
  }
}

template <class T>
ConfigValue write_scalar(const Setting& s, const T& v) {
  if constexpr (kIsOrAuto<T>) {
    return v.value ? write_scalar(s, *v.value) : ConfigValue(std::string(kAuto));
  } else if constexpr (std::same_as<T, Duration>) {
    return ConfigValue(format_duration(v));
  } else if constexpr (std::same_as<T, BitRate>) {
    return ConfigValue(format_rate(v));
  } else if constexpr (std::integral<T> && !std::same_as<T, bool>) {
    if (s.kind == SettingKind::kBytes && !is_plain_size(s))
      return ConfigValue(std::to_string(v) + 'B');
    return ConfigValue(static_cast<std::int64_t>(v));
  } else {
    return ConfigValue(v);
  }
}

template <class T>
std::string breach_of(const SettingRange& range, const T& v) {
  if constexpr (std::same_as<T, bool> || std::same_as<T, std::string>) return {};
  else if constexpr (kIsOrAuto<T>) return v.value ? breach_of(range, *v.value) : std::string{};
  else if constexpr (std::unsigned_integral<T>) return range.breach(std::uint64_t{v});
  else if constexpr (std::integral<T>) return range.breach(std::int64_t{v});
  else return range.breach(v);
}

void record(const Checks& at, std::string_view key, const std::string& problem) {
  if (!problem.empty()) at.fault(key, problem);
}

template <class T>
constexpr std::string_view type_of() {
  if constexpr (std::same_as<T, bool>) return "boolean";
  else if constexpr (std::integral<T>) return "integer";
  else if constexpr (std::same_as<T, double>) return "number";
  else if constexpr (std::same_as<T, OrAuto<double>>) return "number or `auto`";
  else if constexpr (std::same_as<T, OrAuto<Duration>>) return "duration or `auto`";
  else if constexpr (std::same_as<T, Duration>) return "duration";
  else if constexpr (std::same_as<T, BitRate>) return "rate";
  else return "text";
}

template <class T>
struct Field {
  using Element = typename detail::FieldElement<T>::Type;

  static FieldFaults read(const Setting& s, const ConfigValue& v) {
    return detail::read_field(
        *static_cast<T*>(s.field), v,
        [&s](const ConfigValue& one, Element& out) { return read_scalar(s, one, out); });
  }
  static std::optional<ConfigValue> write(const Setting& s) {
    return detail::write_field(*static_cast<const T*>(s.field),
                               [&s](const Element& v) { return write_scalar(s, v); });
  }
  static void check(const Setting& s, const Checks& at) {
    const auto& field = *static_cast<const T*>(s.field);
    const SettingRange& range = s.about.range;
    if constexpr (detail::kIsOptional<T>) {
      if (field) record(at, s.key, breach_of(range, *field));
    } else if constexpr (detail::kIsVector<T>) {
      for (std::size_t i = 0; i < field.size(); ++i)
        record(at.below(s.key, i), "", breach_of<Element>(range, field[i]));
    } else {
      record(at, s.key, breach_of(range, field));
    }
  }
  static constexpr FieldOps kOps{
      type_of<Element>(), detail::kIsOptional<T>, detail::kIsVector<T>, &read, &write, &check};
};

}  // namespace

template <class T>
const FieldOps& field_ops() {
  return Field<T>::kOps;
}

#define OUTRIDER_SETTING_TYPE(...)                                  \
  template const FieldOps& field_ops<__VA_ARGS__>();                \
  template const FieldOps& field_ops<std::optional<__VA_ARGS__>>(); \
  template const FieldOps& field_ops<std::vector<__VA_ARGS__>>();

template const FieldOps& field_ops<bool>();
template const FieldOps& field_ops<std::optional<bool>>();
OUTRIDER_SETTING_TYPE(std::uint8_t)
OUTRIDER_SETTING_TYPE(std::uint16_t)
OUTRIDER_SETTING_TYPE(std::uint32_t)
OUTRIDER_SETTING_TYPE(std::uint64_t)
OUTRIDER_SETTING_TYPE(std::int32_t)
OUTRIDER_SETTING_TYPE(std::int64_t)
OUTRIDER_SETTING_TYPE(double)
OUTRIDER_SETTING_TYPE(std::string)
OUTRIDER_SETTING_TYPE(Duration)
OUTRIDER_SETTING_TYPE(BitRate)
OUTRIDER_SETTING_TYPE(OrAuto<double>)
OUTRIDER_SETTING_TYPE(OrAuto<Duration>)

#undef OUTRIDER_SETTING_TYPE

}  // namespace outrider
