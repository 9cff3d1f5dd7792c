#pragma once

#include <filesystem>

#include "tools/lab/summary/bundle_environment.h"
#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// Writes everything that an experiment left behind, creating `directory`:
///
///   summary.json      to_json(summary): the interface that others build on
///   table.txt         comparison_table(summary)
///   environment.json  processor, kernel, versions, wall time (nowhere else)
///   config/NNN-LABEL-seedS/{switch,trafficgen}.toml
///   bursts.csv        every burst: what the generator and the measured queue saw
///   queue.csv         the measured queue over time, coarse between bursts
///   flows.csv         every connection that carried data
///
/// Safe at any moment of an experiment: it writes what the runs so far hold, each
/// file whole or not at all (a new name, then a rename), and may be called again.
/// @throws std::runtime_error naming the file and the cause
void write_bundle(const std::filesystem::path& directory, const Experiment& experiment,
                  const Summary& summary, const EnvironmentNotes& notes = {});

}  // namespace outrider::lab
