#pragma once

#include <string>
#include <utility>

#include "common/config/config_reader.h"
#include "common/config/config_result.h"
#include "common/config/config_value.h"
#include "common/config/config_writer.h"
#include "common/config/toml_file.h"
#include "common/config/toml_text.h"

namespace outrider {

/// Reads a table into a struct with a describe(), see config_binding.h.
/// @param path  of the table: the prefix of the keys in `issues`
template <class T>
void read_config(const ConfigTable& table, std::string path, T& into, ConfigIssues& issues) {
  ConfigReader reader(table, std::move(path), issues);
  describe(static_cast<Settings&>(reader), into);
  reader.finish();
}

/// Adds the issues of `more` unless there is one already at or below their key: a field that
/// could not be read still has its default, so rules say nothing useful about it.
void merge_issues(ConfigIssues& into, const ConfigIssues& more);

/// Returns a table as a valid T. It reads the table, then runs validate(), found by
/// argument-dependent lookup, and reports the errors of both.
template <class T>
ConfigResult<T> checked_config(const ConfigTable& table) {
  ConfigResult<T> result{T{}, {}};
  read_config(table, "", *result.config, result.issues);
  merge_issues(result.issues, validate(std::as_const(*result.config)));
  if (!result.issues.empty()) result.config.reset();
  return result;
}

template <class T>
ConfigResult<T> load_config(const std::string& path) {
  auto file = read_toml_file(path);
  if (!file) return {{}, std::move(file.issues)};
  return checked_config<T>(*file.config);
}

/// Returns the struct as a table that reads back to an equal struct, defaults included.
/// @param config  a copy: describe() takes what it visits by reference
template <class T>
ConfigTable to_config_table(T config) {
  ConfigTable table;
  ConfigWriter writer(table);
  describe(static_cast<Settings&>(writer), config);
  return table;
}

/// Returns the same as TOML text.
template <class T>
std::string write_config(T config) {
  return to_toml_text(to_config_table(std::move(config)));
}

}  // namespace outrider
