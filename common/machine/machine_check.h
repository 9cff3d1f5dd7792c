#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/machine/finding.h"
#include "common/machine/machine_tree.h"

namespace outrider {

/// The machine to check, and the build that is to run there.
struct Machine {
  std::filesystem::path root = "/";  ///< of /sys, /proc, /dev, /tmp, /run
  std::string march{};               ///< -march of the programs; empty: unknown
  std::string dpdk_version{};        ///< "22.11.11", that of the headers
  std::string driver_directory{};    ///< directory from which DPDK loads its drivers
  std::string runtime_directory{};   ///< XDG_RUNTIME_DIR of the user; may be empty
};

/// Runs every check and returns the findings in the order of their groups. It only reads files,
/// needs no privilege, changes nothing and never throws, except if memory runs out.
[[nodiscard]] Findings check_machine(const Machine& machine);

// The groups of checks.
[[nodiscard]] Findings check_processors(const MachineTree& tree, std::string_view march);
[[nodiscard]] Findings check_memory(const MachineTree& tree);
[[nodiscard]] Findings check_nodes(const MachineTree& tree);
[[nodiscard]] Findings check_devices(const MachineTree& tree);
[[nodiscard]] Findings check_dpdk(const MachineTree& tree, const Machine& machine);
[[nodiscard]] Findings check_kernel(const MachineTree& tree, const Machine& machine);
[[nodiscard]] Findings check_leftovers(const MachineTree& tree, const Machine& machine);

/// Returns the worst severity; kOk if there are no findings.
[[nodiscard]] Severity worst_of(const Findings& findings) noexcept;

}  // namespace outrider
