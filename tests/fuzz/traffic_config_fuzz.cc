// The generator's configuration as text: it is refused with every fault named, or it is valid and
// reads back as it was written. Files that it names do not exist here.
#include <string_view>

#include "common/config/toml_file.h"
#include "tests/fuzz/fuzz_input.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::fuzz {
namespace {

constexpr const char* kNowhere = "/nonexistent";

void run(std::string_view text) {
  const auto table = parse_toml(text);
  if (!table) return;
  const auto result = tg::generator_config_from(*table.config, kNowhere);
  FUZZ_REQUIRE(result.config.has_value() == result.issues.empty());
  FUZZ_REQUIRE(result || !format_issues("text", result.issues).empty());
  if (!result) return;
  (void)tg::required_mbufs(*result.config);
  const std::string written = tg::to_toml(*result.config);
  const auto table_again = parse_toml(written);
  FUZZ_REQUIRE(table_again);
  const auto again = tg::generator_config_from(*table_again.config, kNowhere);
  FUZZ_REQUIRE(again && tg::to_toml(*again.config) == written);
}

}  // namespace
}  // namespace outrider::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  outrider::fuzz::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
