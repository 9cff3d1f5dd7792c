#pragma once

#include <signal.h>
#include <sys/resource.h>

#include <cstdint>

namespace outrider {

/// As long as it lives, a write beyond so many bytes of a file fails, with EFBIG: the nearest to a
/// full disk that needs neither root nor a file system.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::uint64_t bytes) {
    before_ = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit less{.rlim_cur = bytes, .rlim_max = limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &less);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    signal(SIGXFSZ, before_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit limit_{};
  sighandler_t before_{};
};

}  // namespace outrider
