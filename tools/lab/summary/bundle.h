#pragma once

#include <filesystem>

#include "tools/lab/summary/bundle_environment.h"
#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// Writes all results of an experiment and creates `directory`:
///
///   summary.json      to_json(summary): the interface for other programs
///   table.txt         comparison_table(summary)
///   environment.json  processor, kernel, versions, wall time (nowhere else)
///   config/NNN-LABEL-seedS/{switch,trafficgen}.toml
///   bursts.csv        every burst, as recorded by the generator and the measured queue
///   queue.csv         the measured queue over time, coarse between bursts
///   flows.csv         every connection that carried data
///   connections.csv   samples of sending connections; only with connection_sample_seconds
///
/// May be called at any moment of an experiment, and again: it writes the results of the
/// runs so far. Each file is written completely or not at all, by a rename from a new name.
/// @throws std::runtime_error naming the file and the cause
void write_bundle(const std::filesystem::path& directory, const Experiment& experiment,
                  const Summary& summary, const EnvironmentNotes& notes = {});

}  // namespace outrider::lab
