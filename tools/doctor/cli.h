#pragma once

#include <optional>
#include <string>

#include "common/machine/machine_check.h"

namespace outrider {

struct DoctorOptions {
  std::string root = "/";  ///< directory that holds proc, sys, dev, tmp; tests give another
  bool json = false;       ///< print the findings as JSON
  bool leftovers = false;  ///< print only the paths that dead processes left behind
};

struct ParsedDoctorLine {
  DoctorOptions options{};
  std::optional<int> exit_status{};  ///< if set, end with it: help or an error was printed
};

/// Parses the command line, and prints help and errors.
[[nodiscard]] ParsedDoctorLine parse_doctor_command_line(int argc, const char* const* argv);

/// Checks the machine and prints the findings to stdout. @return the exit status
int run_doctor(const DoctorOptions& options, Machine machine);

}  // namespace outrider
