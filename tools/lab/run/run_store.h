#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tools/lab/experiment/case.h"

namespace outrider::lab {

/// Runs that an experiment has finished, kept in files until all of it is done: a session
/// that ends early, however it does, costs the runs that were under way and no others.
///
/// A run is taken up again only by the same program with the same resolved
/// configuration and seed: each file begins with all of that, and another is not read.
class RunStore {
 public:
  /// @param directory of the results. @param program identity of what makes the runs
  RunStore(const std::filesystem::path& directory, std::string program);

  /// @return what save() was given; nothing if it is not there whole, or of another run
  [[nodiscard]] std::optional<std::string> load(const Case& c, Runtime runtime) const;

  /// Whole or not at all: a new name, then a rename.
  /// @throws std::runtime_error naming the file and the cause
  void save(const Case& c, Runtime runtime, const std::string& text) const;

  /// Forgets everything.
  void clear() const;

 private:
  [[nodiscard]] std::string key_of(const Case& c, Runtime runtime) const;
  [[nodiscard]] std::filesystem::path path_of(const std::string& key) const;

  std::filesystem::path directory_;
  std::string program_;
};

/// Of the running program: it differs after each build.
[[nodiscard]] std::string program_identity();

}  // namespace outrider::lab
