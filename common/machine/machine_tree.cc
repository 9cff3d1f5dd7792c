#include "common/machine/machine_tree.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

namespace outrider {

namespace fs = std::filesystem;

fs::path MachineTree::at(std::string_view path) const {
  return root_ / fs::path(path).relative_path();
}

bool MachineTree::exists(std::string_view path) const {
  std::error_code ignored;
  return fs::exists(at(path), ignored);
}

std::string MachineTree::text(std::string_view path) const {
  std::error_code ignored;
  if (fs::is_directory(at(path), ignored)) return {};
  std::ifstream file(at(path), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string MachineTree::line(std::string_view path) const {
  const std::string all = text(path);
  return trimmed(std::string_view(all).substr(0, all.find('\n')));
}

std::optional<std::uint64_t> MachineTree::number(std::string_view path) const {
  return to_number(line(path));
}

std::vector<std::string> MachineTree::names(std::string_view directory) const {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator entry(at(directory), error), end; !error && entry != end;
       entry.increment(error))
    found.push_back(entry->path().filename());
  std::sort(found.begin(), found.end());
  return found;
}

std::string MachineTree::link_name(std::string_view path) const {
  std::error_code ignored;
  return fs::read_symlink(at(path), ignored).filename();
}

std::string MachineTree::field(std::string_view path, std::string_view key) const {
  std::istringstream lines(text(path));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    std::string_view rest = std::string_view(line).substr(key.size());
    if (rest.empty() || (rest.front() != ':' && rest.front() != ' ' && rest.front() != '\t'))
      continue;
    rest.remove_prefix(std::min(rest.find_first_not_of(": \t"), rest.size()));
    return trimmed(rest);
  }
  return {};
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view kWhite = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kWhite);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kWhite) - first + 1));
}

std::optional<std::uint64_t> to_number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  return {std::istream_iterator<std::string>(stream), {}};
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::optional<std::vector<std::uint32_t>> cpu_list(std::string_view text) {
  constexpr std::uint64_t kMostCpus = 65'536;  // so that a damaged file cannot exhaust the memory
  std::vector<std::uint32_t> cpus;
  while (!text.empty()) {
    const std::string_view range = text.substr(0, text.find(','));
    text.remove_prefix(std::min(range.size() + 1, text.size()));
    const std::size_t dash = range.find('-');
    const auto first = to_number(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : to_number(range.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= kMostCpus) return std::nullopt;
    for (std::uint64_t cpu = *first; cpu <= *last; ++cpu)
      cpus.push_back(static_cast<std::uint32_t>(cpu));
  }
  return cpus;
}

}  // namespace outrider
