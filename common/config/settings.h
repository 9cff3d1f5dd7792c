#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/config/choices.h"
#include "common/config/config_value.h"
#include "common/config/quantities.h"
#include "common/config/setting_range.h"

namespace outrider {

class Checks;

/// Says whether a running program can take another value of a setting.
struct ReloadRule {
  enum class Rule : std::uint8_t {
    kAsTable,  ///< as the table that holds it; at the top level of a file: refused
    kFree,     ///< the program takes the new value without loss
    kRefused   ///< the program keeps its value until a restart
  };
  Rule rule = Rule::kAsTable;
  std::string_view why{};  ///< for kRefused: ends "... cannot change: it ..."
};

inline constexpr ReloadRule kReloads{ReloadRule::Rule::kFree, {}};
constexpr ReloadRule refused(std::string_view why) { return {ReloadRule::Rule::kRefused, why}; }

/// All that a row states about a setting, apart from its key and its field. The default value
/// is the field's initializer.
struct About {
  bool required = false;
  SettingRange range{};        ///< of the value, or of each element of a list
  std::string_view accepts{};  ///< for the reference: rules in addition to the range
  std::string_view absent{};   ///< for the reference: the meaning of an absent key
  std::string_view help{};     ///< for the reference: one line, Markdown
  ReloadRule reload{};
};

/// Shorthands for rows that state only whether their key is required.
struct Presence {
  static constexpr About kOptional{};
  static constexpr About kRequired{.required = true};
};

enum class SettingKind : std::uint8_t { kValue, kDuration, kRate, kBytes, kShare, kChoice, kText };

/// A rule that a value in a file breaks.
struct FieldFault {
  std::optional<std::size_t> index{};  ///< of the element of a list
  std::string rule;
};
using FieldFaults = std::vector<FieldFault>;

struct Setting;

/// The operations on a field of one type. A field is one value, an optional of one, or a
/// list.
struct FieldOps {
  std::string_view type;  ///< of one element: "integer", "duration"
  bool optional = false;
  bool list = false;
  /// Reads a value of a file into the field. On an error the field keeps its old value.
  FieldFaults (*read)(const Setting&, const ConfigValue&);
  /// Returns the value for a file; nothing for an optional without a value.
  std::optional<ConfigValue> (*write)(const Setting&);
  /// Records values outside the range.
  void (*check)(const Setting&, const Checks&);
};

/// One row: a key and its field. Valid during the call that it is passed to.
struct Setting {
  std::string_view key;
  SettingKind kind;
  const About& about;
  void* field;
  const FieldOps& ops;
  std::vector<std::string_view> names{};  ///< kChoice: the names of the enum's values
  const void* with = nullptr;             ///< kChoice, kText: the conversion
};

class Settings;

/// A struct with a describe() of its own: [key].
struct SettingTable {
  std::string_view key;
  const About& about;
  void* field;
  void (*describe_in)(Settings&, void* field);
  bool only_defaults;  ///< read but never written: part of a list's prototype
};

/// A std::vector of such structs: [[key]].
struct SettingList {
  std::string_view key;
  const About& about;
  void* list;
  const void* prototype;  ///< initial value of every element
  std::size_t (*size)(const void* list);
  void (*clear)(void* list, std::size_t room);
  void (*describe_at)(Settings&, void* list, std::size_t index);
  void (*describe_new)(Settings&, void* list, const void* prototype);
  void (*describe_prototype)(Settings&, const void* prototype);
};

/// Returns the operations of a type that common/config/setting_fields.cc lists. Other types
/// do not link.
template <class T>
const FieldOps& field_ops();

/// Receives the rows that describe() of a struct states, see config_binding.h. Derived classes
/// read, write, check or describe the settings.
class Settings {
 public:
  virtual ~Settings() = default;

  template <class T>
  void value(std::string_view key, T& field, const About& about = {}) {
    row({key, SettingKind::kValue, about, &field, field_ops<T>()});
  }
  /// @tparam T Duration, or an optional or a list of them
  template <class T>
  void duration(std::string_view key, T& field, const About& about = {}) {
    row({key, SettingKind::kDuration, about, &field, field_ops<T>()});
  }
  /// @tparam T BitRate, or an optional or a list of them
  template <class T>
  void rate(std::string_view key, T& field, const About& about = {}) {
    row({key, SettingKind::kRate, about, &field, field_ops<T>()});
  }
  /// @tparam T an unsigned integer, or an optional or a list of them
  template <class T>
  void bytes(std::string_view key, T& field, const About& about = {}) {
    row({key, SettingKind::kBytes, about, &field, field_ops<T>()});
  }
  /// @tparam T double, or an optional or a list of them
  template <class T>
  void share(std::string_view key, T& field, const About& about = {}) {
    row({key, SettingKind::kShare, about, &field, field_ops<T>()});
  }

  template <class T, class Names>
  void choice(std::string_view key, T& field, const Names& names, const About& about = {});
  template <class E, class Names>
  void choices(std::string_view key, std::vector<E>& field, const Names& names,
               const About& about = {}) {
    choice(key, field, names, about);
  }
  template <class T, class Parse, class Format>
  void text(std::string_view key, T& field, const Parse& parse, const Format& format,
            const About& about = {});

  template <class T>
  void table(std::string_view key, T& field, const About& about = {}) {
    nested({key, about, &field, &describe_field<T>, false});
  }
  template <class T>
  void defaults(std::string_view key, T& field, const About& about = {}) {
    nested({key, about, &field, &describe_field<T>, true});
  }
  template <class T>
  void tables(std::string_view key, std::vector<T>& field, const T& prototype,
              const About& about = {});
  template <class T>
  void tables(std::string_view key, std::vector<T>& field, const About& about = {}) {
    const T prototype{};
    tables(key, field, prototype, about);
  }
  virtual void free_table(std::string_view key, ConfigTable& field, const About& about = {}) = 0;

 private:
  template <class T>
  static void describe_field(Settings& v, void* field) {
    describe(v, *static_cast<T*>(field));
  }

  virtual void row(const Setting& setting) = 0;
  virtual void nested(const SettingTable& table) = 0;
  virtual void list(const SettingList& list) = 0;
};

namespace detail {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <class T>
inline constexpr bool kIsVector = false;
template <class T, class A>
inline constexpr bool kIsVector<std::vector<T, A>> = true;

template <class T>
struct FieldElement {
  using Type = T;
};
template <class T>
struct FieldElement<std::optional<T>> {
  using Type = T;
};
template <class T>
struct FieldElement<std::vector<T>> {
  using Type = T;
};

/// Writes a field with `convert`, element by element.
template <class T, class Convert>
std::optional<ConfigValue> write_field(const T& field, const Convert& convert) {
  if constexpr (kIsOptional<T>) {
    return field ? std::optional(convert(*field)) : std::nullopt;
  } else if constexpr (kIsVector<T>) {
    ConfigValue::Array array;
    for (const auto& element : field) array.push_back(convert(element));
    return ConfigValue(std::move(array));
  } else {
    return convert(field);
  }
}

/// Reads a field with `convert`: std::string(const ConfigValue&, element& out), which returns
/// the rule that is broken, or an empty text.
template <class T, class Convert>
FieldFaults read_field(T& field, const ConfigValue& v, const Convert& convert) {
  typename FieldElement<T>::Type element{};
  if constexpr (kIsVector<T>) {
    const auto* array = v.as<ConfigValue::Array>();
    if (array == nullptr) return {{{}, "must be an array, e.g. [a, b]"}};
    FieldFaults faults;
    T read;
    for (std::size_t i = 0; i < array->size(); ++i) {
      std::string rule = convert((*array)[i], element);
      if (rule.empty()) read.push_back(element);
      else faults.push_back({i, std::move(rule)});
    }
    if (faults.empty()) field = std::move(read);
    return faults;
  } else {
    std::string rule = convert(v, element);
    if (!rule.empty()) return {{{}, std::move(rule)}};
    field = std::move(element);
    return {};
  }
}

/// @param index  of the name that equals the value. @return the rule that is broken, or empty
std::string choose(const ConfigValue& v, const std::vector<std::string_view>& names,
                   std::size_t& index);

/// Returns the rule that a value that is no text breaks. @param wanted  the expected form
std::string not_a_text(const ConfigValue& v, std::string_view wanted);

void check_nothing(const Setting& setting, const Checks& at);

template <class T, class Names>
struct ChoiceField {
  static FieldFaults read(const Setting& s, const ConfigValue& v) {
    const auto& names = *static_cast<const Names*>(s.with);
    return read_field(*static_cast<T*>(s.field), v, [&](const ConfigValue& one, auto& out) {
      std::size_t index = 0;
      std::string rule = choose(one, s.names, index);
      if (rule.empty()) out = names[index].value;
      return rule;
    });
  }
  static std::optional<ConfigValue> write(const Setting& s) {
    const auto& names = *static_cast<const Names*>(s.with);
    return write_field(*static_cast<const T*>(s.field), [&names](const auto& v) {
      for (const auto& name : names)
        if (name.value == v) return ConfigValue(std::string(name.name));
      return ConfigValue();
    });
  }
  static constexpr FieldOps kOps{"text", kIsOptional<T>, kIsVector<T>,
                                 &read,  &write,         &check_nothing};
};

template <class T, class Parse, class Format>
struct TextField {
  using With = std::pair<const Parse&, const Format&>;
  static FieldFaults read(const Setting& s, const ConfigValue& v) {
    const auto& parse = static_cast<const With*>(s.with)->first;
    return read_field(*static_cast<T*>(s.field), v, [&](const ConfigValue& one, auto& out) {
      const auto* text = one.as<std::string>();
      if (text == nullptr) return not_a_text(one, parse(std::string_view{}).problem);
      auto parsed = parse(std::string_view(*text));
      if (parsed.value) out = std::move(*parsed.value);
      return std::move(parsed.problem);
    });
  }
  static std::optional<ConfigValue> write(const Setting& s) {
    const auto& format = static_cast<const With*>(s.with)->second;
    return write_field(*static_cast<const T*>(s.field),
                       [&format](const auto& v) { return ConfigValue(std::string(format(v))); });
  }
  static constexpr FieldOps kOps{"text", kIsOptional<T>, kIsVector<T>,
                                 &read,  &write,         &check_nothing};
};

}  // namespace detail

template <class T, class Names>
void Settings::choice(std::string_view key, T& field, const Names& names, const About& about) {
  Setting s{key, SettingKind::kChoice, about, &field, detail::ChoiceField<T, Names>::kOps};
  for (const auto& name : names) s.names.push_back(name.name);
  s.with = &names;
  row(s);
}

template <class T, class Parse, class Format>
void Settings::text(std::string_view key, T& field, const Parse& parse, const Format& format,
                    const About& about) {
  const typename detail::TextField<T, Parse, Format>::With with{parse, format};
  Setting s{key, SettingKind::kText, about, &field, detail::TextField<T, Parse, Format>::kOps};
  s.with = &with;
  row(s);
}

template <class T>
void Settings::tables(std::string_view key, std::vector<T>& field, const T& prototype,
                      const About& about) {
  using List = std::vector<T>;
  list({.key = key,
        .about = about,
        .list = &field,
        .prototype = &prototype,
        .size = [](const void* l) { return static_cast<const List*>(l)->size(); },
        .clear =
            [](void* l, std::size_t room) {
              static_cast<List*>(l)->clear();
              static_cast<List*>(l)->reserve(room);
            },
        .describe_at = [](Settings& v, void* l,
                          std::size_t i) { describe(v, (*static_cast<List*>(l))[i]); },
        .describe_new =
            [](Settings& v, void* l, const void* p) {
              describe(v, static_cast<List*>(l)->emplace_back(*static_cast<const T*>(p)));
            },
        .describe_prototype =
            [](Settings& v, const void* p) {
              T copy = *static_cast<const T*>(p);
              describe(v, copy);
            }});
}

}  // namespace outrider
