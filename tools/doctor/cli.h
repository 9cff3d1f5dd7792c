#pragma once

#include <optional>
#include <string>

#include "common/machine/machine_check.h"

namespace outrider {

struct DoctorOptions {
  std::string root = "/";  ///< of the files that are looked at; tests give another
  bool json = false;
  bool leftovers = false;  ///< print their paths and nothing else
};

struct ParsedDoctorLine {
  DoctorOptions options{};
  std::optional<int> exit_status{};  ///< set: end with it, all has been said
};

/// Prints help and faults itself.
[[nodiscard]] ParsedDoctorLine parse_doctor_command_line(int argc, const char* const* argv);

/// Checks, prints to stdout. @return the exit status
int run_doctor(const DoctorOptions& options, Machine machine);

}  // namespace outrider
