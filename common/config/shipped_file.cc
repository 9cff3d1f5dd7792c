#include "common/config/shipped_file.h"

#include <algorithm>
#include <system_error>
#include <vector>

#include "common/config/suggestion.h"

namespace outrider {

namespace fs = std::filesystem;

namespace {

bool is_name(const std::string& text) {
  return !text.empty() && text.find_first_of("./") == std::string::npos;
}

/// Says whether a file is there. A folder of that name is none.
bool is_file(const fs::path& path) {
  std::error_code unread;
  return fs::exists(path, unread) && !fs::is_directory(path, unread);
}

/// Returns the names of the files of a folder in conf_directory().
std::vector<std::string> shipped_names(std::string_view folder, std::string_view extension) {
  std::vector<std::string> names;
  const auto conf = conf_directory();
  if (!conf) return names;
  std::error_code unread;
  for (const auto& entry : fs::directory_iterator(*conf / folder, unread))
    if (entry.path().extension() == extension) names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace

std::optional<fs::path> conf_directory() {
  std::error_code unread;
  fs::path at = fs::read_symlink("/proc/self/exe", unread).parent_path();
  for (; !at.empty() && at != at.root_path(); at = at.parent_path())
    for (const char* place : {"conf", "share/outrider/conf"})
      if (fs::exists(at / place / "remedies.toml", unread)) return at / place;
  return std::nullopt;
}

std::string named_file(const std::string& text, std::string_view folder, std::string_view extension,
                       const fs::path& directory) {
  const fs::path own = (directory / text).lexically_normal();
  if (!is_name(text) || is_file(own)) return own.string();
  if (const auto conf = conf_directory())
    if (const fs::path shipped = *conf / folder / (text + std::string(extension)); is_file(shipped))
      return shipped.string();
  return own.string();
}

std::string name_problem(const std::string& text, std::string_view folder,
                         std::string_view extension, const fs::path& directory) {
  if (!is_name(text)) return "";
  const std::vector<std::string> names = shipped_names(folder, extension);
  const bool shipped = std::ranges::find(names, text) != names.end();
  if (is_file(directory / text))
    return shipped ? "is a file here and one of the program's " + std::string(folder) +
                         ": write \"./" + text + "\" for the file, or rename it"
                   : "";
  if (shipped) return "";
  const std::string with_ending = text + std::string(extension);
  const std::string none = "is neither a file here nor one of the program's " + std::string(folder);
  if (is_file(directory / with_ending)) return none + "; did you mean \"" + with_ending + "\"?";
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string nearest = suggestion(text, candidates);
  return nearest.empty() ? "" : none + nearest;
}

}  // namespace outrider
