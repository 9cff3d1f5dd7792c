#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/config/config_binding.h"
#include "common/config/config_value.h"
#include "common/config/quantities.h"

namespace outrider {

/// The visitor that writes one struct into one table; see config_binding.h.
/// Every key is written, defaults included; an optional without a value is not.
///
/// @pre unsigned 64-bit values fit TOML's signed integers: a rule of validate()
class ConfigWriter {
 public:
  explicit ConfigWriter(ConfigTable& table) : table_(table) {}

  template <class T>
  void value(std::string_view key, const T& field, Presence = Presence::kOptional) {
    write(key, field, [](const auto& v) { return to_value(v); });
  }

  template <class T>
  void duration(std::string_view key, const T& field, Presence = Presence::kOptional) {
    write(key, field, [](Duration d) { return ConfigValue(format_duration(d)); });
  }

  template <class T>
  void rate(std::string_view key, const T& field, Presence = Presence::kOptional) {
    write(key, field, [](BitRate r) { return ConfigValue(format_rate(r)); });
  }

  template <class T>
  void bytes(std::string_view key, const T& field, Presence = Presence::kOptional) {
    const bool plain = key.ends_with("_bytes");
    write(key, field, [plain](std::unsigned_integral auto v) {
      return plain ? to_value(v) : ConfigValue(std::to_string(v) + 'B');
    });
  }

  template <class T>
  void share(std::string_view key, const T& field, Presence = Presence::kOptional) {
    value(key, field);
  }

  template <class T, class Names>
  void choice(std::string_view key, const T& field, const Names& names,
              Presence = Presence::kOptional) {
    write(key, field, [&names](const auto& v) {
      for (const auto& name : names)
        if (name.value == v) return ConfigValue(std::string(name.name));
      return ConfigValue();
    });
  }

  template <class E, class Names>
  void choices(std::string_view key, const std::vector<E>& field, const Names& names,
               Presence presence = Presence::kOptional) {
    choice(key, field, names, presence);
  }

  template <class T, class Parse, class Format>
  void text(std::string_view key, const T& field, const Parse&, const Format& format,
            Presence = Presence::kOptional) {
    write(key, field, [&format](const auto& v) { return ConfigValue(std::string(format(v))); });
  }

  template <class T>
  void table(std::string_view key, T& field) {
    table_[key] = ConfigValue(described(field));
  }

  template <class T>
  void defaults(std::string_view, T&) {}

  template <class T>
  void tables(std::string_view key, std::vector<T>& field, const T& = {}) {
    if (field.empty()) return;
    ConfigValue::Array array;
    for (auto& element : field) array.emplace_back(described(element));
    table_[key] = ConfigValue(std::move(array));
  }

  void free_table(std::string_view key, const ConfigTable& field) {
    table_[key] = ConfigValue(field);
  }

 private:
  template <class T>
  static ConfigTable described(T& field) {
    ConfigTable nested;
    ConfigWriter writer(nested);
    describe(writer, field);
    return nested;
  }

  template <class T, class Convert>
  void write(std::string_view key, const T& field, const Convert& convert) {
    if constexpr (detail::kIsOptional<T>) {
      if (field) write(key, *field, convert);
    } else if constexpr (detail::kIsVector<T>) {
      ConfigValue::Array array;
      for (const auto& element : field) array.push_back(convert(element));
      table_[key] = ConfigValue(std::move(array));
    } else {
      table_[key] = convert(field);
    }
  }

  static ConfigValue to_value(const std::string& v) { return ConfigValue(v); }
  static ConfigValue to_value(bool v) { return ConfigValue(v); }
  static ConfigValue to_value(double v) { return ConfigValue(v); }
  template <std::integral T>
  static ConfigValue to_value(T v) {
    return ConfigValue(static_cast<std::int64_t>(v));
  }

  ConfigTable& table_;
};

}  // namespace outrider
