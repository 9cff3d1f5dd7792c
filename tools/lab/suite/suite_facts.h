#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/lab/experiment/experiment.h"
#include "tools/lab/summary/results.h"

namespace outrider::lab {

/// What a report says of a test beside its figures: name and value.
using SuiteFacts = std::vector<std::pair<std::string, std::string>>;

/// Returns the topology of a test: switches and links by tier, rates, places and round trip.
SuiteFacts topology_of(const ExperimentFile& experiment);

/// Returns the groups of hosts of a test, and how many each has.
SuiteFacts hosts_of(const ExperimentFile& experiment);

/// A setting that a test gives, with all of its values.
struct SuiteSetting {
  std::string section{};  ///< of a test report: "ECN thresholds", "PFC", "buffers"
  std::string name{};
  std::vector<std::string> values{};
};

/// Returns the settings of a test by the sections of a test report, in their order.
std::vector<SuiteSetting> configuration_of(const Results& results);

}  // namespace outrider::lab
