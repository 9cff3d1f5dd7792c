#pragma once

#include <ostream>

#include "tools/lab/summary/summary.h"

namespace outrider::lab {

// Instants are nanoseconds of the clock that the column names, empty if they never
// came. Column `case` is the index in summary.json; `run` is "measured" or "alone".

/// One line per burst: the generator's record, joined by identity with that of the
/// measured queue; one that only the switch saw has only its columns.
void write_bursts_csv(std::ostream& out, const Experiment& experiment);

/// The measured queue and the goodput over time: the bins as recorded from 20 base
/// RTTs before each START or due time to 20 after the burst, 100 together elsewhere.
void write_queue_csv(std::ostream& out, const Experiment& experiment);

/// One line per direction of a connection that carried data.
void write_flows_csv(std::ostream& out, const Experiment& experiment);

}  // namespace outrider::lab
