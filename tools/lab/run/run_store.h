#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lab/experiment/case.h"

namespace outrider::lab {

/// Keeps the finished runs of an experiment in files until the experiment is done. A session
/// that ends early, for whatever reason, loses only the runs that were under way.
///
/// A run is reused only by the same program with the same resolved configuration and seed.
/// Each file begins with these, and has its name from them. The run follows in gzip's
/// form: its time series are a twentieth of their size, and its checksum shows damage.
class RunStore {
 public:
  /// @param directory of the results. @param program program_identity() of the running program
  RunStore(const std::filesystem::path& directory, std::string program);

  struct Stored {
    std::optional<std::string> text{};               ///< what save() was given
    std::optional<std::filesystem::path> damaged{};  ///< the run's file, if it is not whole
  };

  /// Returns neither if the file is missing or from another run.
  [[nodiscard]] Stored load(const Case& c, Runtime runtime) const;

  /// Writes the file completely or not at all, see write_whole_file().
  /// @throws std::runtime_error naming the file and the cause
  void save(const Case& c, Runtime runtime, const std::string& text) const;

  /// Returns the name of the run's file, which differs for all that makes another run.
  [[nodiscard]] std::string file_of(const Case& c, Runtime runtime) const;

  /// Deletes all stored runs.
  void clear() const;

  struct Size {
    std::size_t files = 0;
    std::uintmax_t bytes = 0;
  };
  /// Returns what all stored runs take, those of other programs and configurations too.
  [[nodiscard]] Size size() const;
  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }

 private:
  [[nodiscard]] std::string key_of(const Case& c, Runtime runtime) const;
  [[nodiscard]] std::filesystem::path path_of(const std::string& key) const;

  std::filesystem::path directory_;
  std::string program_;
};

/// Returns an identity of the running program's file: its size and a hash of its bytes. A copy on
/// another machine has the same one.
[[nodiscard]] std::string program_identity();

/// Returns a hash of all that makes the runs of these cases in virtual time, including the files
/// that they name.
[[nodiscard]] std::string plan_fingerprint(const std::vector<Case>& cases);

/// FNV-1a. It names files and detects edited files; it does not protect against attacks.
[[nodiscard]] std::uint64_t content_hash(std::string_view text) noexcept;

}  // namespace outrider::lab
