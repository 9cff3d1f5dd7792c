#include "common/config/text_file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace outrider {
namespace {

ConfigResult<std::string> fault(std::string problem) { return {{}, {{"", std::move(problem)}}}; }

}  // namespace

ConfigResult<std::string> read_text_file(const std::string& path, std::uint32_t limit_mib) {
  std::error_code ignored;  // if it cannot be examined, it cannot be opened either
  if (std::filesystem::is_directory(path, ignored)) return fault("is a directory, not a file");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return fault(std::string("cannot be opened: ") + std::strerror(errno));
  const std::size_t limit = std::size_t{limit_mib} << 20;
  std::string text;
  std::array<char, 1U << 16> chunk{};
  while (text.size() <= limit && (file.read(chunk.data(), chunk.size()), file.gcount() > 0))
    text.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
  if (file.bad()) return fault(std::string("cannot be read: ") + std::strerror(errno));
  if (text.size() > limit) return fault("is larger than " + std::to_string(limit_mib) + " MiB");
  return {std::move(text), {}};
}

}  // namespace outrider
