#include "common/telemetry/standard_output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <string>

namespace outrider {

void flush_standard_output() {
  errno = 0;
  std::cout.flush();
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  const int error = errno;
  if (!failed || error == EPIPE) return;
  const std::string text = "standard output: cannot be written";
  if (error == 0) throw std::runtime_error(text + ": an earlier write has failed");
  throw std::runtime_error(text + ": " + std::strerror(error) + " (errno " + std::to_string(error) +
                           ")");
}

}  // namespace outrider
