#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace outrider::lab {

/// A name for a file that is not whole yet. A reader of `path` finds all of the file or none, after
/// a loss of power too. Without publish(), nothing is left of it.
class PartialPath {
 public:
  explicit PartialPath(std::filesystem::path path);
  ~PartialPath();
  PartialPath(const PartialPath&) = delete;
  PartialPath& operator=(const PartialPath&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] const std::filesystem::path& partial() const noexcept { return partial_; }
  /// Gives the file its name. @throws std::runtime_error naming the file and the cause
  void publish();

 private:
  std::filesystem::path path_;
  std::filesystem::path partial_;
  bool published_ = false;
};

/// A text file that is written piece by piece under a PartialPath.
class PartFile {
 public:
  explicit PartFile(std::filesystem::path path);
  /// @throws std::runtime_error naming the file and the cause
  void write(std::string_view text);
  /// Gives the file its name. @throws std::runtime_error
  void finish();

 private:
  [[noreturn]] void fail() const;

  PartialPath path_;
  std::ofstream out_;
};

/// @throws std::runtime_error "cannot ACTION PATH: CAUSE"
[[noreturn]] void fail_at(const std::string& action, const std::filesystem::path& path,
                          const std::string& cause);

}  // namespace outrider::lab
