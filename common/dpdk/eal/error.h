#pragma once

#include <cstring>
#include <stdexcept>
#include <string>

namespace outrider {

/// Something outside the process prevents a run (CPU, memory, device, socket). The message
/// names the cause and what to do about it.
class EnvironmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The user ended a wait for something outside the process.
class Interrupted : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

/// A DPDK call failed: "rte_pktmbuf_pool_create(rx): File exists (errno 17)".
class DpdkError : public EnvironmentError {
 public:
  /// @param error errno value, of either sign
  DpdkError(const std::string& call, const std::string& subject, int error)
      : EnvironmentError(call + "(" + subject + "): " + std::strerror(error < 0 ? -error : error) +
                         " (errno " + std::to_string(error < 0 ? -error : error) + ")") {}
};

}  // namespace outrider
