#pragma once

#include <rte_mempool.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "common/core/clock.h"
#include "common/core/signal_key.h"
#include "switch/config/config.h"
#include "tools/lab/experiment/case.h"
#include "tools/lab/plan/plan_jobs.h"
#include "tools/lab/simulation/run_virtual.h"

namespace outrider::lab {

/// How far a case runs in virtual time.
struct RunSpan {
  Duration slice{};  ///< between two looks at whether to stop, and at the jobs
  Duration drain{};  ///< after the end of the jobs
  Time earliest{};   ///< end of the run at the earliest
  Time limit{};      ///< at the latest
};
RunSpan span_of(const Case& c);

/// Gives the switches the keys of the jobs that sign, which are in no files.
sw::SwitchProcessConfig with_keys(sw::SwitchProcessConfig switches,
                                  const std::map<std::string, SignalKey>& keys);

/// Advances a simulation to `end`, through the case's changes before it.
/// @param done  number of changes that the simulation has
template <class Simulation>
void run_with_changes(const Case& c, Simulation& simulation, std::size_t& done, Time end) {
  for (; done < c.changes.size() && c.changes[done].at < end; ++done) {
    simulation.run_until(c.changes[done].at);
    simulation.change_to(with_keys(c.changes[done].switches, virtual_signal_keys(c.traffic)));
  }
  simulation.run_until(end);
}

/// Runs a simulation to its end. Slices begin at multiples of their length, so that the end of a
/// run does not depend on `stop`. @return false if `stop` ended the run
/// @tparam Simulation  has now(), next(), finished(), run_until(), change_to() and end_slice() as
///                Simulation does
template <class Simulation>
bool drive(const Case& c, Simulation& simulation, const StopCheck& stop) {
  const RunSpan span = span_of(c);
  Time last = kNever;  ///< end of the run, set when the jobs are done
  std::size_t changes = 0;
  while (simulation.now() < std::min(last, span.limit)) {
    if (stop && stop()) return false;
    run_with_changes(c, simulation, changes,
                     std::min({simulation.now() + span.slice, last, span.limit}));
    simulation.end_slice();
    if (last == kNever && simulation.finished())
      last = std::max(simulation.now() + span.drain, span.earliest);
    if (simulation.next() == kNever && !simulation.finished()) break;  // no event is left
  }
  return true;
}

/// Returns how many more buffers of the pool are in use than before.
std::uint32_t leaked_since(rte_mempool& pool, unsigned in_use_before);

}  // namespace outrider::lab
