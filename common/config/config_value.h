#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace outrider {

struct ConfigMember;

/// A table of a configuration file; members keep the order of the file.
struct ConfigTable {
  // Defined where ConfigMember is complete: the types contain each other.
  ConfigTable();
  ConfigTable(const ConfigTable&);
  ConfigTable(ConfigTable&&) noexcept;
  ConfigTable& operator=(const ConfigTable&);
  ConfigTable& operator=(ConfigTable&&) noexcept;
  ~ConfigTable();

  std::vector<ConfigMember> members;

  /// @return nullptr if there is no such key.
  [[nodiscard]] const struct ConfigValue* get(std::string_view key) const noexcept;
  /// Returns the value of `key`; appends it (as an unsupported value) if absent.
  struct ConfigValue& operator[](std::string_view key);

  bool operator==(const ConfigTable&) const;
};

/// A TOML value. Dates and times, which no setting uses, read as kUnsupported.
struct ConfigValue {
  using Array = std::vector<ConfigValue>;
  struct Unsupported {
    bool operator==(const Unsupported&) const = default;
  };

  ConfigValue() = default;
  explicit ConfigValue(bool v) : data(v) {}
  explicit ConfigValue(std::int64_t v) : data(v) {}
  explicit ConfigValue(double v) : data(v) {}
  explicit ConfigValue(std::string v) : data(std::move(v)) {}
  explicit ConfigValue(Array v) : data(std::move(v)) {}
  explicit ConfigValue(ConfigTable v) : data(std::move(v)) {}

  template <class T>
  [[nodiscard]] const T* as() const noexcept {
    return std::get_if<T>(&data);
  }
  template <class T>
  [[nodiscard]] T* as() noexcept {
    return std::get_if<T>(&data);
  }

  std::variant<Unsupported, bool, std::int64_t, double, std::string, Array, ConfigTable> data;

  bool operator==(const ConfigValue&) const = default;
};

struct ConfigMember {
  std::string key;
  ConfigValue value;
  bool operator==(const ConfigMember&) const = default;
};

/// Returns whether the value is a non-empty array of tables only: [[key]] in the file.
bool is_array_of_tables(const ConfigValue& value) noexcept;

/// Returns a value as error messages show it: strings quoted, "an array", "a table".
std::string display(const ConfigValue& value);

/// Returns "path.key", or "key" if the path is empty.
std::string join_key(std::string_view path, std::string_view key);
/// Returns "path.key[index]".
std::string join_key(std::string_view path, std::string_view key, std::size_t index);

/// Returns the value at a path such as "switch[0].queue.limit_packets" (ConfigIssue::key).
/// @return nullptr if the file has no such value, or the path is malformed.
const ConfigValue* find(const ConfigTable& root, std::string_view path) noexcept;

/// Sets the value at a path, so that a sweep or a flag can change one setting of a file before
/// it is read. Creates missing tables on the way.
/// @return false, with nothing changed, if the path is malformed, indexes an
///         element that does not exist, or passes through something that is no table.
[[nodiscard]] bool assign(ConfigTable& root, std::string_view path, ConfigValue value);

}  // namespace outrider
