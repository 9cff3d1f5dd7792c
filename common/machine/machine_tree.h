#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace outrider {

/// Reads /sys, /proc, /dev and the like below a root, which tests make themselves.
/// Paths are given as on the machine, "/proc/cmdline". Nothing throws and nothing is
/// written: what is absent or may not be read is empty.
class MachineTree {
 public:
  explicit MachineTree(std::filesystem::path root) : root_(std::move(root)) {}

  /// Where `path` of the machine lies.
  [[nodiscard]] std::filesystem::path at(std::string_view path) const;
  [[nodiscard]] bool exists(std::string_view path) const;
  [[nodiscard]] std::string text(std::string_view path) const;
  /// First line, without white space at its ends.
  [[nodiscard]] std::string line(std::string_view path) const;
  /// The first line, if it is a decimal number and nothing else.
  [[nodiscard]] std::optional<std::uint64_t> number(std::string_view path) const;
  /// Entries of a directory, sorted.
  [[nodiscard]] std::vector<std::string> names(std::string_view directory) const;
  /// Last part of what a symbolic link points to.
  [[nodiscard]] std::string link_name(std::string_view path) const;
  /// Value of "KEY: value" or "KEY value" at the start of a line.
  [[nodiscard]] std::string field(std::string_view path, std::string_view key) const;

 private:
  std::filesystem::path root_;
};

[[nodiscard]] std::string trimmed(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> to_number(std::string_view text, int base = 10);
/// Parts between white space.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);
/// "a, b, c".
[[nodiscard]] std::string joined(const std::vector<std::string>& parts);
/// The kernel's list of CPUs, "0-2,5"; nothing if it is none.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> cpu_list(std::string_view text);

}  // namespace outrider
