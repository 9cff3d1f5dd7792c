#include "common/telemetry/whole_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <regex>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace outrider {
namespace {

[[noreturn]] void fail(const std::string& path, int error) {
  throw std::runtime_error(path + ": cannot be written: " + std::strerror(error) + " (errno " +
                           std::to_string(error) + ")");
}

/// Creates a file that was not there. @return its descriptor, or -1 with errno
int create(const std::string& path, mode_t mode) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}

/// @return 0, or errno
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

/// @return 0, or errno
int sync_file(int fd) {
  return fsync(fd) == 0 || errno == EINVAL ? 0 : errno;  // EINVAL: a file system without fsync
}

/// Makes the new name of a file survive a loss of power. Without permission to read the directory
/// the name is still there, so this is no error.
void sync_directory(const std::string& path) {
  std::string directory = std::filesystem::path(path).parent_path().string();
  if (directory.empty()) directory = ".";
  const int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

constexpr const char* kSpecial = "is a device or a pipe, which a file would replace";

bool is_special_file(const std::string& path) {
  std::error_code none;
  const auto status = std::filesystem::status(path, none);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

/// @return 0, or errno: EEXIST for what is_special_file()
int rename_and_sync(const std::string& partial, const std::string& path) {
  if (is_special_file(path)) return EEXIST;
  if (std::rename(partial.c_str(), path.c_str()) != 0) return errno;
  sync_directory(path);
  return 0;
}

}  // namespace

std::string why_no_file(const std::string& path) {
  namespace fs = std::filesystem;
  fs::path directory = fs::path(path).parent_path();
  if (directory.empty()) directory = ".";
  std::error_code ignored;
  if (!fs::is_directory(directory, ignored))
    return "directory " + directory.string() + " does not exist";
  if (fs::is_directory(path, ignored)) return "is a directory; name a file";
  if (is_special_file(path)) return kSpecial;
  if (access(directory.c_str(), W_OK) != 0)
    return "no permission to write in " + directory.string();
  return {};
}

std::string partial_name(const std::string& path) {
  std::uint64_t drawn = 0;
  while (getrandom(&drawn, sizeof drawn, 0) < 0 && errno == EINTR) {
  }
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016" PRIx64, drawn);
  return path + '.' + digits.data() + ".partial";
}

void remove_partial_files(const std::string& directory) {
  namespace fs = std::filesystem;
  static const std::regex kName(R"(.+\.[0-9a-f]{16}\.partial)");
  std::error_code ignored;
  std::vector<fs::path> left;
  for (const auto& file : fs::directory_iterator(directory, ignored))
    if (std::regex_match(file.path().filename().string(), kName)) left.push_back(file.path());
  for (const auto& file : left) fs::remove(file, ignored);
}

void write_whole_file(const std::string& path, std::string_view text, mode_t mode) {
  if (is_special_file(path)) throw std::runtime_error(path + ": cannot be written: " + kSpecial);
  const std::string partial = partial_name(path);
  const int fd = create(partial, mode);
  if (fd < 0) fail(path, errno);
  int error = write_all(fd, text);
  if (error == 0) error = sync_file(fd);
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0) error = rename_and_sync(partial, path);
  if (error != 0) {
    unlink(partial.c_str());
    fail(path, error);
  }
}

int publish_file(const std::string& partial, const std::string& path) {
  const int fd = open(partial.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const int error = sync_file(fd);
  close(fd);
  return error != 0 ? error : rename_and_sync(partial, path);
}

}  // namespace outrider
