#pragma once

// Includes CLI11, which is slow to compile: for command lines alone.

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

#include "common/core/quantity_bounds.h"
#include "common/core/shortened.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/standard_output.h"

namespace outrider {

/// Refuses what is no number for a setting either, and what CLI::Range takes for a number of any
/// range: "nan".
inline CLI::Validator usable_number() {
  return {[](const std::string& text) -> std::string {
            const std::string_view rule = number_rule(std::strtod(text.c_str(), nullptr));
            return rule.empty() ? std::string() : text + ": " + std::string(rule);
          },
          ""};
}

/// Refuses what is no whole number from `low` to `high`. CLI11 by itself reads "-1" as 2^64 - 1.
inline CLI::Validator whole_number(std::uint64_t low, std::uint64_t high = kLargestCount) {
  return {[low, high](const std::string& text) -> std::string {
            std::uint64_t value = 0;
            const char* const end = text.data() + text.size();
            const auto read = std::from_chars(text.data(), end, value);
            if (read.ec == std::errc{} && read.ptr == end && value >= low && value <= high)
              return {};
            return shortened(text, kShownValue_bytes) + ": must be a whole number from " +
                   std::to_string(low) + " to " + std::to_string(high);
          },
          ""};
}

/// Refuses an option together with others, which it would make have no effect.
inline void exclude_all(CLI::App& app, const char* option,
                        std::initializer_list<const char*> others) {
  for (const char* other : others) app.get_option(option)->excludes(app.get_option(other));
}

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
