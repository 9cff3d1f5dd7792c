#include "common/machine/free_memory.h"

#include <algorithm>
#include <sstream>
#include <string>

namespace outrider {
namespace {

/// Returns the number at the beginning of the text, such as that of "1024 kB".
std::optional<std::uint64_t> leading_number(const std::string& text) {
  const auto words = words_of(text);
  return words.empty() ? std::nullopt : to_number(words[0]);
}

/// Returns what the limit of one control group leaves [bytes]; nothing if it has none.
std::optional<std::uint64_t> left_in(const MachineTree& tree, const std::string& directory) {
  const auto limit = tree.number(directory + "/memory.max");
  const auto used = tree.number(directory + "/memory.current");
  if (!limit || !used) return std::nullopt;
  const std::string statistics = directory + "/memory.stat";
  const std::uint64_t files = leading_number(tree.field(statistics, "active_file")).value_or(0) +
                              leading_number(tree.field(statistics, "inactive_file")).value_or(0);
  const std::uint64_t kept = *used - std::min(*used, files);
  return *limit - std::min(*limit, kept);
}

/// Returns the path of this process's control group, "" for the root.
std::string own_group(const MachineTree& tree) {
  std::istringstream lines(tree.text("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("0::/")) return line.size() == 4 ? "" : line.substr(3);
  return {};
}

}  // namespace

std::optional<std::uint64_t> free_memory_mb(const MachineTree& tree) {
  const auto kilobytes = leading_number(tree.field("/proc/meminfo", "MemAvailable"));
  if (!kilobytes) return std::nullopt;
  std::uint64_t bytes = *kilobytes * 1024;
  for (std::string group = own_group(tree);; group.resize(group.rfind('/'))) {
    bytes = std::min(bytes, left_in(tree, "/sys/fs/cgroup" + group).value_or(bytes));
    if (group.empty()) break;
  }
  return bytes >> 20;
}

}  // namespace outrider
