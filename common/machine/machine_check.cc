#include "common/machine/machine_check.h"

#include <algorithm>
#include <iterator>

namespace outrider {

Findings check_machine(const Machine& machine) {
  const MachineTree tree(machine.root);
  Findings all;
  const auto add = [&all](Findings more) {
    std::move(more.begin(), more.end(), std::back_inserter(all));
  };
  add(check_processors(tree, machine.march));
  add(check_memory(tree));
  add(check_nodes(tree));
  add(check_devices(tree));
  add(check_dpdk(tree, machine));
  add(check_kernel(tree, machine));
  add(check_leftovers(tree, machine));
  return all;
}

Severity worst_of(const Findings& findings) noexcept {
  Severity worst = Severity::kOk;
  for (const Finding& finding : findings) worst = std::max(worst, finding.severity);
  return worst;
}

}  // namespace outrider
