#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tools/lab/experiment/case.h"

namespace outrider::lab {

/// Keeps the finished runs of an experiment in files until the experiment is done. A session
/// that ends early, for whatever reason, loses only the runs that were under way.
///
/// A run is reused only by the same program with the same resolved configuration and seed.
/// Each file begins with these; a file that begins otherwise is ignored.
class RunStore {
 public:
  /// @param directory of the results. @param program program_identity() of the running program
  RunStore(const std::filesystem::path& directory, std::string program);

  /// Returns the text that save() was given; nothing if the file is missing, incomplete or from
  /// another run.
  [[nodiscard]] std::optional<std::string> load(const Case& c, Runtime runtime) const;

  /// Writes the file completely or not at all, see write_whole_file().
  /// @throws std::runtime_error naming the file and the cause
  void save(const Case& c, Runtime runtime, const std::string& text) const;

  /// Deletes all stored runs.
  void clear() const;

 private:
  [[nodiscard]] std::string key_of(const Case& c, Runtime runtime) const;
  [[nodiscard]] std::filesystem::path path_of(const std::string& key) const;

  std::filesystem::path directory_;
  std::string program_;
};

/// Returns an identity of the running program that differs after each build.
[[nodiscard]] std::string program_identity();

}  // namespace outrider::lab
