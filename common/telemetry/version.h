#pragma once

// Includes CLI11, which is slow to compile: for command lines alone.

#include <CLI/CLI.hpp>

namespace outrider {

/// Adds --version. OUTRIDER_VERSION is the version of CMakeLists.txt: outrider_version() of CMake
/// defines it for a target.
inline void add_version_option(CLI::App& app) {
  app.set_version_flag("--version", app.get_name() + " " OUTRIDER_VERSION);
}

}  // namespace outrider
