#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/core/clock.h"
#include "common/core/units.h"

namespace outrider {

/// # How a struct is bound to TOML
///
/// One function per struct names its keys; ConfigReader and ConfigWriter both
/// run it, so that what is written reads back. It is found by argument-dependent
/// lookup: put it in the namespace of the struct, in a header if others nest it.
///
///     inline constexpr auto kMarkerKinds = choices<MarkerKind>({
///         {"tail_drop", MarkerKind::kTailDrop}, {"step", MarkerKind::kStep}});
///
///     template <class V>
///     void describe(V& v, MarkerConfig& c) {
///       v.choice("kind", c.kind, kMarkerKinds);
///       v.value("threshold_packets", c.threshold_packets);
///       v.value("ddl_threshold_packets", c.ddl_threshold_packets);  // std::optional: may be
///       absent
///     }
///
/// | call | field | in the file |
/// |---|---|---|
/// | `v.value(key, f)` | bool, integers, double, std::string | `true`, `40`, `0.5`, `"x"`; an
/// integer must fit the field | | `v.value(key, f)` | std::vector of those | `["a", "b"]`, `[1,
/// 2]`: string lists, number lists | | `v.choice(key, f, names)` | enum | one of the names | |
/// `v.choices(key, f, names)` | std::vector of enum | a list of names | | `v.duration(key, f)` |
/// Duration, or std::vector of it | `"1.5ms"` | | `v.rate(key, f)` | BitRate, or std::vector of it
/// | `"10gbit"` | | `v.bytes(key, f)` | unsigned integer, or std::vector of it | `"64KiB"`; a plain
/// number too if the key ends with `_bytes` | | `v.share(key, f)` | double, or std::vector of it |
/// `0.4` or `"40%"` | | `v.text(key, f, parse, format)` | any | a string; `Parsed<T>
/// parse(std::string_view)`, `std::string format(const T&)` | | `v.table(key, f)` | struct with a
/// describe() | `[key]`, nested | | `v.tables(key, f [, prototype])` | std::vector of such structs
/// | `[[key]]`; every element starts as a copy of the prototype | | `v.defaults(key, f)` | struct
/// with a describe() | `[key]`: read into `f`, to become part of a prototype; never written | |
/// `v.free_table(key, f)` | ConfigTable | `[key]` with any content: kept as it stands, order
/// included |
///
/// Every one of the scalar calls (value to text) also takes a std::optional of
/// its field, and a last argument `Presence::kRequired`. Without it an absent
/// key leaves the field as it is: defaults live in the struct and nowhere else.
/// `tables` and `table` are optional; that a list may not be empty is a rule of
/// validate(). Nesting is free: describe() of an element may call table() and
/// tables() again, and `free_table` is itself readable later by
/// read_config(table, path, into, issues).
///
/// Load with load_config<T>(path), write with write_config(c); both are in
/// config_file.h. `assign()` of config_value.h changes a single setting of a
/// file, by its key path, before it is read.

enum class Presence : std::uint8_t { kOptional, kRequired };

template <class E>
struct Choice {
  std::string_view name;
  E value;
};

/// The names of an enum's values, for choice().
template <class E, std::size_t n>
constexpr std::array<Choice<E>, n> choices(const Choice<E> (&names)[n]) {
  return std::to_array(names);
}

namespace detail {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <class T>
inline constexpr bool kIsVector = false;
template <class T, class A>
inline constexpr bool kIsVector<std::vector<T, A>> = true;

}  // namespace detail
}  // namespace outrider
