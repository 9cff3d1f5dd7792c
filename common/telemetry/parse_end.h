#pragma once

// Includes CLI11, which is slow to compile: for command lines alone.

#include <CLI/CLI.hpp>
#include <iostream>
#include <sstream>
#include <string>

#include "common/core/shortened.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/standard_output.h"

namespace outrider {

/// Prints why a command line is not run: the help that it asked for, or its fault, of which an
/// argument of any size shows its beginning.
/// @return exit status
inline int end_of_parsing(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream fault;
  if (app.exit(error, std::cout, fault) == 0) {
    try {
      flush_standard_output();
    } catch (const std::exception& failed) {
      std::cerr << app.get_name() << ": " << failed.what() << '\n';
      std::cout.clear();  // told; the program's end flushes again
      std::clearerr(stdout);
      return kExitFailure;
    }
    return kExitOk;
  }
  std::string text = std::move(fault).str();
  if (text.size() > kShownProblem_bytes) text = shortened(text, kShownProblem_bytes) + '\n';
  std::cerr << text;
  return kExitUsage;
}

}  // namespace outrider
