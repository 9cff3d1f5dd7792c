#pragma once

#include <string>

#include "trafficgen/report/report.h"

namespace outrider::tg {

class StreamEngine;

/// What a run leaves behind beside its summary; empty: not asked for.
struct OutputFiles {
  std::string report;         ///< JSON
  std::string csv_directory;  ///< all tables of csv_files(), and raw latencies of streams
  std::string flow_records;   ///< of [[flows]] tables with `records`
  std::string streams_csv;    ///< one line a stream
  std::string samples;        ///< raw latencies of streams with latency_samples
  std::string hops;           ///< raw hop records of those with `hops` too
};

/// Before the run: makes the directory for tables if only that is missing.
/// @throws UsageError naming the option
void prepare(const OutputFiles& files);

/// After it, whatever its end. @param streams nullptr: the run had none
/// @throws std::runtime_error
void write(const OutputFiles& files, const GeneratorReport& report, const StreamEngine* streams);

}  // namespace outrider::tg
