// A switch's configuration as text: it is refused with every fault named, or it is valid and
// reads back as it was written.
#include "switch/config/config_toml.h"
#include "tests/fuzz/fuzz_main.h"

namespace outrider::fuzz {

void run(FuzzInput in) {
  const auto result = read_or_refuse(in.text(), sw::switch_config_from);
  if (!result) return;
  (void)sw::required_mbufs(*result.config);
  (void)sw::frame_room_bytes(*result.config);
  (void)sw::table_memory_mb(*result.config);
  require_same_again(*result.config, sw::switch_config_from,
                     [](const auto& config) { return sw::to_toml(config); });
}

}  // namespace outrider::fuzz
