#pragma once

// For the one .cc file of a target: libFuzzer's entry, and what targets of one kind have in common.

#include <string>
#include <string_view>

#include "common/config/config_result.h"
#include "common/config/toml_file.h"
#include "tests/fuzz/fuzz_input.h"

namespace outrider::fuzz {

/// Tries one input. Each target defines it.
void run(FuzzInput in);

/// Where relative paths of a configuration begin: nothing is found there.
inline constexpr const char* kNowhere = "/nonexistent";

/// A configuration as text is refused with every fault named, or it is read.
/// @param read  ConfigTable -> ConfigResult
template <class Read>
auto read_or_refuse(std::string_view text, Read&& read) {
  const auto table = parse_toml(text);
  FUZZ_REQUIRE(table.config.has_value() == table.issues.empty());
  auto result = decltype(read(*table.config)){};
  if (!table) return result;
  result = read(*table.config);
  FUZZ_REQUIRE(result.config.has_value() == result.issues.empty());
  FUZZ_REQUIRE(result || !format_issues("text", result.issues).empty());
  return result;
}

/// A configuration that was read is read again as it is written. @param write  config -> text
template <class Config, class Read, class Write>
void require_same_again(const Config& config, Read&& read, Write&& write) {
  const std::string written = write(config);
  const auto again = read_or_refuse(written, read);
  FUZZ_REQUIRE(again && write(*again.config) == written);
}

}  // namespace outrider::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  outrider::fuzz::run({data, size});
  return 0;
}
