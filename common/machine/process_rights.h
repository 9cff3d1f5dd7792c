#pragma once

#include <cstdint>

#include "common/machine/machine_tree.h"

namespace outrider {

/// Capability numbers, from capabilities(7) and linux/capability.h.
enum class Capability : std::uint8_t {
  kNetAdmin = 12,
  kNetRaw = 13,
  kIpcLock = 14,
  kSysAdmin = 21,
  kBpf = 39,
};

/// Returns whether /proc/self/status gives this process the capability.
[[nodiscard]] inline bool has_capability(const MachineTree& tree, Capability capability) {
  const auto effective = to_number(tree.field("/proc/self/status", "CapEff"), 16);
  return effective && (*effective >> static_cast<unsigned>(capability) & 1) != 0;
}

}  // namespace outrider
