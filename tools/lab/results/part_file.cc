#include "tools/lab/results/part_file.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "common/telemetry/whole_file.h"

namespace outrider::lab {

void fail_at(const std::string& action, const std::filesystem::path& path,
             const std::string& cause) {
  throw std::runtime_error("cannot " + action + " " + path.string() + ": " + cause);
}

PartialPath::PartialPath(std::filesystem::path path)
    : path_(std::move(path)), partial_(partial_name(path_)) {}

PartialPath::~PartialPath() {
  std::error_code ignored;
  if (!published_) std::filesystem::remove(partial_, ignored);
}

void PartialPath::publish() {
  if (const int error = publish_file(partial_, path_); error != 0)
    fail_at("write", path_, std::strerror(error));
  published_ = true;
}

PartFile::PartFile(std::filesystem::path path) : path_(std::move(path)) {
  errno = 0;
  out_.open(path_.partial(), std::ios::binary | std::ios::trunc);
}

void PartFile::write(std::string_view text) {
  errno = 0;
  if (out_) out_ << text;
  if (!out_) fail();
}

void PartFile::finish() {
  errno = 0;
  out_.close();
  if (!out_) fail();
  path_.publish();
}

void PartFile::fail() const {
  fail_at("write", path_.path(), errno != 0 ? std::strerror(errno) : "write failed");
}

}  // namespace outrider::lab
