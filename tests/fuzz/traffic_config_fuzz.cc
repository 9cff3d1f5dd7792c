// The generator's configuration as text: it is refused with every fault named, or it is valid and
// reads back as it was written. Files that it names do not exist here.
#include "tests/fuzz/fuzz_main.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::fuzz {

void run(FuzzInput in) {
  const auto read = [](const ConfigTable& table) {
    return tg::generator_config_from(table, kNowhere);
  };
  const auto result = read_or_refuse(in.text(), read);
  if (!result) return;
  (void)tg::required_mbufs(*result.config);
  require_same_again(*result.config, read, [](const auto& config) { return tg::to_toml(config); });
}

}  // namespace outrider::fuzz
