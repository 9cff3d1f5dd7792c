#include "common/config/shipped_file.h"

#include <system_error>

namespace outrider {

namespace fs = std::filesystem;

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
  std::error_code unread;
  const fs::path own = (directory / text).lexically_normal();
  if (text.empty() || text.find_first_of("./") != std::string::npos || fs::exists(own, unread))
    return own.string();
  if (const auto conf = conf_directory())
    if (const fs::path shipped = *conf / folder / (text + std::string(extension));
        fs::exists(shipped, unread))
      return shipped.string();
  return own.string();
}

}  // namespace outrider
