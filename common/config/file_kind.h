#pragma once

#include <string>

#include "common/config/config_file.h"
#include "common/config/config_result.h"
#include "common/config/config_value.h"

namespace outrider {

/// The files that users write, each for one reader.
enum class FileKind {
  kSwitch,
  kGenerator,
  kExperiment,
  kModel,
  kTestbed,
  kSuite,
  kArms,  ///< `rivals` of an experiment
};

/// Says that a file is of another kind, by its tables, so that not every key of it is told as
/// unknown: "is a testbed, by its \"device\", not an experiment". Empty if it is not.
/// @param own  what the reader reads
std::string of_another_kind(const ConfigTable& file, FileKind own);

/// Reads a file as read_toml_file() does. One of another kind gives one issue without a key.
ConfigResult<ConfigTable> read_file_of(const std::string& path, FileKind own);

/// Does the same as load_config(), for a file of one kind.
template <class T>
ConfigResult<T> load_config(const std::string& path, FileKind own) {
  auto file = read_file_of(path, own);
  if (!file) return {{}, std::move(file.issues)};
  return checked_config<T>(*file.config);
}

}  // namespace outrider
