// A switch's configuration as text: it is refused with every fault named, or it is valid and
// reads back as it was written.
#include <string_view>

#include "common/config/toml_file.h"
#include "switch/config/config_toml.h"
#include "tests/fuzz/fuzz_input.h"

namespace outrider::fuzz {
namespace {

void run(std::string_view text) {
  const auto table = parse_toml(text);
  FUZZ_REQUIRE(table.config.has_value() == table.issues.empty());
  if (!table) return;
  const auto result = sw::switch_config_from(*table.config);
  FUZZ_REQUIRE(result.config.has_value() == result.issues.empty());
  FUZZ_REQUIRE(!format_issues("text", result.issues).empty() || result);
  if (!result) return;
  (void)sw::required_mbufs(*result.config);
  (void)sw::frame_room_bytes(*result.config);
  (void)sw::table_memory_mb(*result.config);
  const std::string written = sw::to_toml(*result.config);
  const auto table_again = parse_toml(written);
  FUZZ_REQUIRE(table_again);
  const auto again = sw::switch_config_from(*table_again.config);
  FUZZ_REQUIRE(again && sw::to_toml(*again.config) == written);
}

}  // namespace
}  // namespace outrider::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  outrider::fuzz::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
