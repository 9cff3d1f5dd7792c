#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "tools/lab/results/bundle_environment.h"
#include "tools/lab/results/query.h"
#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// The database beside the other files.
inline constexpr const char* kDatabaseFile = "results.sqlite";

/// Opens the database of some results. @param named  their directory, or the file itself
/// @throws std::runtime_error naming the file and what to do: it is not there, no database, or of
/// another version of the tables
ResultsReader open_results(const std::filesystem::path& named);

/// Returns the reports of a case, by its index in the summary. @throws std::runtime_error
using ReadRun = std::function<CaseRun(std::size_t index)>;

/// Writes all results of an experiment and creates `directory`:
///
///   summary.json      to_json(summary): the interface for other programs
///   table.txt         result_text(summary)
///   environment.json  processor, kernel, versions, wall time (nowhere else)
///   config/NNN-LABEL-seedS/{switch,trafficgen}.toml
///   results.sqlite    all tables of the results, for SQL; see run_tables() and summary_tables()
///   NAME.csv          each of run_tables() that a run needs
///   captures/NNN-LABEL-seedS.SWITCH.PORT.pcapng   only with observe.captures
///
/// May be called at any moment of an experiment, and again: it writes the results of the
/// runs so far. Each file is written completely or not at all, by a rename from a new name.
/// @throws std::runtime_error naming the file and the cause
///
/// @param read  is called once for each case of the summary, in order; one run is in memory at a
/// time
void write_bundle(const std::filesystem::path& directory, const Summary& summary,
                  const ReadRun& read, const EnvironmentNotes& notes = {});

/// Writes the configurations of one case, "NNN-LABEL-seedS/{switch,trafficgen}.toml", into a
/// directory, which it creates. @throws std::runtime_error naming the file and the cause
/// @param index  NNN
void write_configuration(const std::filesystem::path& directory, std::size_t index,
                         const Case& definition, const std::string& switch_toml,
                         const std::string& traffic_toml);

/// Says why write_bundle() could not write into a directory that is there, with the file; empty if
/// it can. Ask before what takes hours runs.
std::string why_no_bundle(const std::filesystem::path& directory);

/// Does the same for an experiment whose runs are all in memory.
void write_bundle(const std::filesystem::path& directory, const Experiment& experiment,
                  const Summary& summary, const EnvironmentNotes& notes = {});

}  // namespace outrider::lab
