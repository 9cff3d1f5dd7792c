#pragma once

#include "common/config/choices.h"
#include "common/config/settings.h"
#include "common/core/clock.h"
#include "common/core/units.h"

// clang-format off
/// # How a struct is bound to TOML
///
/// One function per struct states a row for each key. Reading, writing, checking, reloading
/// and the reference in docs/configuration.md all run it. It is found by argument-dependent
/// lookup: declare it in the namespace of the struct, next to the struct, and define it in a
/// .cc file.
///
///     void describe(Settings& v, MarkerConfig& c) {
///       v.choice("kind", c.kind, kMarkerKinds, {.help = "what marks", .reload = kReloads});
///       v.value("threshold_packets", c.threshold_packets,
///               {.range = integers(1, 1000, "packets"), .help = "K of the step"});
///     }
///
/// | call | field | in the file |
/// |---|---|---|
/// | `v.value(key, f)` | bool, integers, double, std::string | `true`, `40`, `0.5`, `"x"` |
/// | `v.value(key, f)` | OrAuto<double> | `0.5`, `"auto"` |
/// | `v.choice(key, f, names)` | enum | one of the names |
/// | `v.duration(key, f)` | Duration | `"1.5ms"` |
/// | `v.duration(key, f)` | OrAuto<Duration> | `"1.5ms"`, `"auto"` |
/// | `v.rate(key, f)` | BitRate | `"10gbit"` |
/// | `v.bytes(key, f)` | unsigned integer | `"64KiB"`; a number if the key ends with `_bytes` |
/// | `v.share(key, f)` | double | `0.4` or `"40%"` |
/// | `v.text(key, f, parse, format)` | any | a string; `parse` as in quantities.h |
/// | `v.table(key, f)` | struct with a describe() | `[key]`, nested |
/// | `v.tables(key, f[, prototype])` | std::vector of such | `[[key]]`; elements begin as that |
/// | `v.defaults(key, f)` | such a struct | `[key]`: read for a prototype, never written |
/// | `v.free_table(key, f)` | ConfigTable | `[key]` with any content, kept in its order |
///
/// The last argument of each call is an About: range, help, reload rule. The scalar calls (value
/// to text) also take a std::optional or a std::vector of their field. A vector is an array in
/// the file (`choices` for one of enums). An absent key leaves the field as it is, unless it
/// is `required`: the struct's initializers are the only defaults. An integer must fit its
/// field. `tables` and `table` are optional. validate() holds rules such as that a list may
/// not be empty, and all rules about several settings. Tables may nest to any depth, and
/// read_config(table, path, into, issues) can read a `free_table` later.
///
/// Load with load_config<T>(path), write with write_config(c); both are in config_file.h.
/// `assign()` of config_value.h changes one setting of a file, given its key path, before
/// the file is read.
// clang-format on
