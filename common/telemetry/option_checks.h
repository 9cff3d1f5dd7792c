#pragma once

// Includes CLI11, which is slow to compile: for command lines alone.

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

#include "common/core/quantity_bounds.h"
#include "common/core/shortened.h"

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

}  // namespace outrider
