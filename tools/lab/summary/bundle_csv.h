#pragma once

#include <ostream>

#include "tools/lab/summary/summary.h"

namespace outrider::lab {

// Instants are nanoseconds of the clock that the column names; an instant that never
// came is empty. Column `case` is the index in summary.json; `run` is "measured" or "alone".

/// Writes one line per burst: the generator's record, joined by identity with that of the
/// measured queue. If only the switch has seen a burst, only the switch's columns are filled.
void write_bursts_csv(std::ostream& out, const Experiment& experiment);

/// Writes the measured queue and the goodput over time: the bins as recorded from 20 base
/// RTTs before each START or due time to 20 after the burst, and 100 bins together elsewhere.
void write_queue_csv(std::ostream& out, const Experiment& experiment);

/// Writes one line per direction of a connection that carried data.
void write_flows_csv(std::ostream& out, const Experiment& experiment);

/// Writes one line per sample of a sending connection (parameter connection_sample_seconds).
void write_connections_csv(std::ostream& out, const Experiment& experiment);

}  // namespace outrider::lab
