#pragma once

#include <span>
#include <string>

#include "trafficgen/config/config.h"
#include "trafficgen/report/report.h"

namespace outrider::tg {

class StreamEngine;

/// The files that a run writes in addition to its summary; empty: not requested.
struct OutputFiles {
  std::string report;         ///< JSON
  std::string csv_directory;  ///< all tables of csv_files(), and raw latencies of streams
  std::string flow_records;   ///< of [[flows]] tables with `records`
  std::string streams_csv;    ///< one line per stream
  std::string samples;        ///< raw latencies of streams with latency_samples
  std::string hops;           ///< raw hop records of streams that also have `hops`
};

/// Prepares the files before the run: makes the directory for tables if only that is missing.
/// @throws UsageError naming the option, also of a file that the configuration has nothing for
void prepare(const OutputFiles& files, const GeneratorConfig& config);

/// Writes the files after the run, however it ended. @param streams of all lcores that had any
/// @throws std::runtime_error
void write(const OutputFiles& files, const GeneratorReport& report,
           std::span<const StreamEngine* const> streams);

}  // namespace outrider::tg
