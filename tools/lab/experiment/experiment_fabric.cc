#include <algorithm>
#include <set>

#include "common/config/checks.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/experiment/experiment_files.h"
#include "tools/lab/fabric/fabric.h"

namespace outrider::lab {

void use_fabric(ExperimentFile& e, ConfigIssues& issues) {
  const Checks root(issues);
  if (!e.switches.empty())
    root.fault("switch", "must be left out with [fabric], which has its own");
  if (!e.trunks.empty()) root.fault("link", "must be left out with [fabric], which has its own");
  auto fabric = build_fabric(e.fabric, e.directory, issues);
  if (!fabric) return;
  const Duration rtt = longest_rtt(*fabric);
  if (e.network.rtt == Duration{}) e.network.rtt = rtt;
  root.below("network").require(
      e.network.rtt == rtt, "rtt", format_duration(e.network.rtt),
      "must be left out with [fabric], or be its longest round trip, " + format_duration(rtt));
  e.switches = std::move(fabric->switches);
  e.trunks = std::move(fabric->trunks);
  e.slots = std::move(fabric->slots);
  if (e.background.matrix.empty()) return;
  std::set<std::size_t> racks;
  for (const FabricSlot& slot : e.slots) racks.insert(slot.at_switch);
  ConfigIssues of_file;
  e.background.racks = load_rack_matrix(path_of_file(kMatrixFile, e.background.matrix, e.directory),
                                        racks.size(), of_file);
  root.below("background").faults_of_file("matrix", e.background.matrix, of_file);
}

}  // namespace outrider::lab
