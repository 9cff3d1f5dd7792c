#include <algorithm>
#include <set>

#include "common/config/checks.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/experiment/experiment_files.h"
#include "tools/lab/fabric/fabric.h"

namespace outrider::lab {

namespace {

/// Returns the other network with what the experiment's own [fabric] says of failures.
std::optional<Fabric> fabric_there(const OtherFabric& other, ExperimentFile& e,
                                   ConfigIssues& issues) {
  const std::size_t before = issues.found();
  const Checks at(issues, "fabric");
  Fabric fabric = other.fabric;
  check_failures(at, e.fabric);
  impair(at, e.fabric, fabric);
  e.fabric.failures.insert(e.fabric.failures.end(), other.failures.begin(), other.failures.end());
  return issues.found() > before ? std::nullopt : std::optional(std::move(fabric));
}

}  // namespace

void use_fabric(ExperimentFile& e, const OtherFabric* other, ConfigIssues& issues) {
  const Checks root(issues);
  if (!e.switches.empty())
    root.fault("switch", "must be left out with [fabric], which has its own");
  if (!e.trunks.empty()) root.fault("link", "must be left out with [fabric], which has its own");
  auto fabric = other == nullptr ? build_fabric(e.fabric, e.directory, issues)
                                 : fabric_there(*other, e, issues);
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
