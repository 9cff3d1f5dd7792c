#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/config/config_binding.h"
#include "common/config/config_value.h"
#include "common/config/quantities.h"
#include "common/core/config_issue.h"

namespace outrider {

/// The visitor that reads one table into one struct; see config_binding.h.
///
/// Records every fault and goes on: a field whose key is faulty keeps what it
/// had. Never clamps. Call finish() last: it reports the keys that nobody read.
class ConfigReader {
 public:
  /// @param table, issues  must outlive the reader
  /// @param path  of the table, the prefix of the keys that are reported
  ConfigReader(const ConfigTable& table, std::string path, ConfigIssues& issues)
      : table_(table), path_(std::move(path)), issues_(issues) {}

  template <class T>
  void value(std::string_view key, T& field, Presence presence = Presence::kOptional) {
    read(key, field, presence, [](const ConfigValue& v, auto& out) { return from(v, out); });
  }

  template <class T>
  void duration(std::string_view key, T& field, Presence presence = Presence::kOptional) {
    read(key, field, presence,
         [](const ConfigValue& v, Duration& out) { return from_text(v, out, parse_duration); });
  }

  template <class T>
  void rate(std::string_view key, T& field, Presence presence = Presence::kOptional) {
    read(key, field, presence,
         [](const ConfigValue& v, BitRate& out) { return from_text(v, out, parse_rate); });
  }

  template <class T>
  void bytes(std::string_view key, T& field, Presence presence = Presence::kOptional) {
    const bool plain = key.ends_with("_bytes");
    read(key, field, presence, [plain](const ConfigValue& v, std::unsigned_integral auto& out) {
      if (plain && v.as<std::int64_t>()) return from(v, out);
      std::uint64_t wide = 0;
      std::string problem = from_text(v, wide, parse_bytes);
      return problem.empty() ? narrow(wide, out) : problem;
    });
  }

  template <class T>
  void share(std::string_view key, T& field, Presence presence = Presence::kOptional) {
    read(key, field, presence, [](const ConfigValue& v, double& out) {
      return v.as<std::string>() ? from_text(v, out, parse_percentage) : from(v, out);
    });
  }

  template <class T, class Names>
  void choice(std::string_view key, T& field, const Names& names,
              Presence presence = Presence::kOptional) {
    read(key, field, presence, [&names](const ConfigValue& v, auto& out) {
      std::vector<std::string_view> texts;
      texts.reserve(std::size(names));
      for (const auto& name : names) texts.push_back(name.name);
      std::size_t index = 0;
      std::string problem = choice_index(v, texts, index);
      if (problem.empty()) out = names[index].value;
      return problem;
    });
  }

  template <class E, class Names>
  void choices(std::string_view key, std::vector<E>& field, const Names& names,
               Presence presence = Presence::kOptional) {
    choice(key, field, names, presence);
  }

  template <class T, class Parse, class Format>
  void text(std::string_view key, T& field, const Parse& parse, const Format&,
            Presence presence = Presence::kOptional) {
    read(key, field, presence,
         [&parse](const ConfigValue& v, auto& out) { return from_text(v, out, parse); });
  }

  template <class T>
  void table(std::string_view key, T& field) {
    const ConfigValue* v = take(key);
    if (v == nullptr) return;
    const auto* nested = v->as<ConfigTable>();
    if (nested == nullptr) return fault(key, *v, "must be a table: [" + join_key(path_, key) + "]");
    ConfigReader reader(*nested, join_key(path_, key), issues_);
    describe(reader, field);
    reader.finish();
  }

  template <class T>
  void defaults(std::string_view key, T& field) {
    table(key, field);
  }

  template <class T>
  void tables(std::string_view key, std::vector<T>& field, const T& prototype = {}) {
    const auto* array = take_tables(key);
    if (array == nullptr) return;
    field.clear();
    field.reserve(array->size());
    for (std::size_t i = 0; i < array->size(); ++i) {
      ConfigReader reader(*(*array)[i].template as<ConfigTable>(), join_key(path_, key, i),
                          issues_);
      describe(reader, field.emplace_back(prototype));
      reader.finish();
    }
  }

  void free_table(std::string_view key, ConfigTable& field);

  /// Refuses every key that no call above has named.
  void finish();

 private:
  /// Reads a scalar, a list of scalars or an optional of either.
  /// @param convert  std::string(const ConfigValue&, T& out): the rule that is broken, or empty
  template <class T, class Convert>
  void read(std::string_view key, T& field, Presence presence, const Convert& convert) {
    const ConfigValue* v = take(key);
    if (v == nullptr) {
      if (presence == Presence::kRequired) missing(key);
      return;
    }
    if constexpr (detail::kIsOptional<T>) {
      typename T::value_type inner{};
      if (convert_one(key, *v, inner, convert)) field = std::move(inner);
    } else {
      convert_one(key, *v, field, convert);
    }
  }

  template <class T, class Convert>
  bool convert_one(std::string_view key, const ConfigValue& v, T& out, const Convert& convert) {
    if constexpr (detail::kIsVector<T>) {
      return convert_list(key, v, out, convert);
    } else {
      std::string problem = convert(v, out);
      if (!problem.empty()) fault(key, v, problem);
      return problem.empty();
    }
  }

  template <class T, class Convert>
  bool convert_list(std::string_view key, const ConfigValue& v, std::vector<T>& out,
                    const Convert& convert) {
    const auto* array = v.as<ConfigValue::Array>();
    if (array == nullptr) {
      fault(key, v, "must be an array, e.g. [a, b]");
      return false;
    }
    const std::size_t before = issues_.size();
    std::vector<T> list;
    for (std::size_t i = 0; i < array->size(); ++i) {
      T element{};
      std::string problem = convert((*array)[i], element);
      if (problem.empty()) list.push_back(std::move(element));
      else fault(join_key("", key, i), (*array)[i], problem);
    }
    if (issues_.size() != before) return false;
    out = std::move(list);
    return true;
  }

  static std::string from(const ConfigValue& v, bool& out);
  static std::string from(const ConfigValue& v, double& out);
  static std::string from(const ConfigValue& v, std::string& out);
  static std::string from_integer(const ConfigValue& v, std::int64_t low, std::uint64_t high,
                                  std::int64_t& out);

  template <std::integral T>
  static std::string from(const ConfigValue& v, T& out) {
    std::int64_t wide = 0;
    std::string problem =
        from_integer(v, static_cast<std::int64_t>(std::numeric_limits<T>::min()),
                     static_cast<std::uint64_t>(std::numeric_limits<T>::max()), wide);
    if (problem.empty()) out = static_cast<T>(wide);
    return problem;
  }

  static std::string not_a_string(const ConfigValue& v);

  template <class T, class Parse>
  static std::string from_text(const ConfigValue& v, T& out, const Parse& parse) {
    const auto* s = v.as<std::string>();
    if (s == nullptr) {
      // The rule of the empty text says what is expected.
      return not_a_string(v) + parse(std::string_view{}).problem;
    }
    auto parsed = parse(std::string_view(*s));
    if (parsed.value) out = std::move(*parsed.value);
    return std::move(parsed.problem);
  }

  template <std::unsigned_integral T>
  static std::string narrow(std::uint64_t wide, T& out) {
    if (wide > std::numeric_limits<T>::max())
      return "must be at most " + std::to_string(std::numeric_limits<T>::max());
    out = static_cast<T>(wide);
    return {};
  }

  static std::string choice_index(const ConfigValue& v, std::span<const std::string_view> names,
                                  std::size_t& index);

  /// The value of a key, which is known from now on.
  const ConfigValue* take(std::string_view key);
  const ConfigValue::Array* take_tables(std::string_view key);
  void missing(std::string_view key);
  void fault(std::string_view key, const ConfigValue& value, std::string_view rule);

  const ConfigTable& table_;
  std::string path_;
  ConfigIssues& issues_;
  std::vector<std::string> known_;
};

}  // namespace outrider
