#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace outrider {

/// Reads /sys, /proc, /dev and the like below a root, which tests create themselves. Paths are
/// those of the machine, such as "/proc/cmdline". Nothing throws and nothing is written: files
/// that are absent or not readable count as empty.
class MachineTree {
 public:
  explicit MachineTree(std::filesystem::path root) : root_(std::move(root)) {}

  /// Returns the location of the machine's `path` below the root.
  [[nodiscard]] std::filesystem::path at(std::string_view path) const;
  [[nodiscard]] bool exists(std::string_view path) const;
  [[nodiscard]] std::string text(std::string_view path) const;
  /// Returns the first line, without white space at its ends.
  [[nodiscard]] std::string line(std::string_view path) const;
  /// Returns the first line if it is a decimal number and nothing else.
  [[nodiscard]] std::optional<std::uint64_t> number(std::string_view path) const;
  /// Returns the entries of a directory, sorted.
  [[nodiscard]] std::vector<std::string> names(std::string_view directory) const;
  /// Returns the last part of a symbolic link's target.
  [[nodiscard]] std::string link_name(std::string_view path) const;
  /// Returns the value of "KEY: value" or "KEY value" at the start of a line.
  [[nodiscard]] std::string field(std::string_view path, std::string_view key) const;

 private:
  std::filesystem::path root_;
};

[[nodiscard]] std::string trimmed(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> to_number(std::string_view text, int base = 10);
/// Returns the parts between white space.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);
/// Returns the parts as "a, b, c".
[[nodiscard]] std::string joined(const std::vector<std::string>& parts);
/// Returns the CPUs in a list of the kernel, "0-2,5"; nothing if the text is no such list.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> cpu_list(std::string_view text);

}  // namespace outrider
