#pragma once

#include <cstddef>
#include <ostream>
#include <span>
#include <string>

#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// The first columns of a line: which run it is of.
struct RunName {
  std::size_t index;  ///< of its case in summary.json
  const Case* definition;
  const char* run;  ///< "measured" or "alone"
};

/// A file of a bundle with lines of every run. Instants are nanoseconds of the clock that the
/// column names; an instant that never came is empty. Column `case` is the index in summary.json.
struct BundleTable {
  const char* file;
  std::string (*head)();  ///< the first line
  void (*write)(std::ostream& out, Runtime runtime, const RunName& name, const RunResult& result);
  /// Says whether a run needs the file; nullptr: the file is there without any run.
  bool (*wanted)(const Case& definition, const RunResult& result) = nullptr;
};

/// Returns these, in the order in which they are written:
///
///   bursts.csv       a line for each burst: the generator's record, joined by identity with that
///   of
///                    the measured queue. If only the switch has seen a burst, only the switch's
///                    columns are filled.
///   queue.csv        the measured queue and the goodput over time: the bins as recorded from 20
///                    base RTTs before each START or due time to 20 after the burst, and 100 bins
///                    together elsewhere, to the last delivery or packet
///   queues.csv       the same of other queues, without goodput; only with observe.queues
///   flows.csv        a line for each direction of a connection that carried data
///   connections.csv  a line for each sample of a sending connection; only with the parameter
///                    connection_sample_seconds
///   groups.csv       a line for each group of background; only with [[background]]
///   histograms.csv   a line for each bucket of the distributions that metrics are computed from
///   links.csv        a line for each link of a fabric, see links_of()
///   link_slices.csv  what its busiest links sent in each slice of the run; of the first seed alone
///   iterations.csv   a line for each iteration of a job in a fabric
std::span<const BundleTable> bundle_tables();

}  // namespace outrider::lab
