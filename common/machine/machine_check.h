#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/machine/finding.h"
#include "common/machine/machine_tree.h"

namespace outrider {

/// What is looked at, and what was built to run there.
struct Machine {
  std::filesystem::path root = "/";  ///< of /sys, /proc, /dev, /tmp, /run
  std::string march{};               ///< -march of the programs; empty: not known
  std::string dpdk_version{};        ///< "22.11.11", of the headers
  std::string driver_directory{};    ///< where DPDK loads its drivers from
  std::string runtime_directory{};   ///< XDG_RUNTIME_DIR of the user; may be empty
};

/// Every check, grouped in the order of the groups. Reads files alone, needs no
/// privilege, changes nothing and never throws but for want of memory.
[[nodiscard]] Findings check_machine(const Machine& machine);

// The groups.
[[nodiscard]] Findings check_processors(const MachineTree& tree, std::string_view march);
[[nodiscard]] Findings check_memory(const MachineTree& tree);
[[nodiscard]] Findings check_nodes(const MachineTree& tree);
[[nodiscard]] Findings check_devices(const MachineTree& tree);
[[nodiscard]] Findings check_dpdk(const MachineTree& tree, const Machine& machine);
[[nodiscard]] Findings check_kernel(const MachineTree& tree, const Machine& machine);
[[nodiscard]] Findings check_leftovers(const MachineTree& tree, const Machine& machine);

/// kOk if there are none.
[[nodiscard]] Severity worst_of(const Findings& findings) noexcept;

}  // namespace outrider
