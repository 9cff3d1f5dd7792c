#include "trafficgen/apps/output_files.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "common/runtime/poll_program.h"
#include "common/telemetry/whole_file.h"
#include "trafficgen/report/report_csv.h"
#include "trafficgen/report/report_json.h"
#include "trafficgen/streams/engine/stream_engine.h"

namespace outrider::tg {

namespace {

void check_content(const OutputFiles& files, const GeneratorConfig& config) {
  const auto require = [](bool has, const char* option, const std::string& file, const char* rule) {
    if (!has && !file.empty()) throw UsageError(option + (' ' + file + ": ") + rule);
  };
  const auto& streams = config.streams;
  require(std::ranges::any_of(config.flows, &FlowsConfig::records), "--flow-records",
          files.flow_records, "there is no [[flows]] with `records`");
  require(!streams.empty(), "--streams-csv", files.streams_csv, "there is no [[stream]]");
  require(std::ranges::any_of(streams, &StreamConfig::latency_samples), "--samples", files.samples,
          "there is no [[stream]] with `latency_samples`");
  require(std::ranges::any_of(streams, &StreamConfig::hops), "--hops", files.hops,
          "there is no [[stream]] with `hops`");
}

}  // namespace

void prepare(const OutputFiles& files, const GeneratorConfig& config) {
  check_content(files, config);
  check_report_paths(std::vector<OutputPath>{{"--report", files.report},
                                             {"--flow-records", files.flow_records},
                                             {"--streams-csv", files.streams_csv},
                                             {"--samples", files.samples},
                                             {"--hops", files.hops}});
  if (files.csv_directory.empty()) return;
  std::error_code failed;
  std::filesystem::create_directory(files.csv_directory, failed);
  if (failed)
    throw UsageError("--csv " + files.csv_directory + ": cannot be made: " + failed.message());
  check_report_path((std::filesystem::path(files.csv_directory) / "bursts.csv").string(), "--csv");
}

void write(const OutputFiles& files, const GeneratorReport& report,
           std::span<const StreamEngine* const> streams) {
  if (!files.report.empty()) write_whole_file(files.report, to_json(report));
  if (!files.streams_csv.empty()) write_whole_file(files.streams_csv, to_csv(report.streams));
  if (!files.samples.empty() && !streams.empty())
    write_whole_file(files.samples, StreamEngine::samples_csv(streams));
  if (!files.hops.empty() && !streams.empty())
    write_whole_file(files.hops, StreamEngine::hops_csv(streams));
  if (!files.flow_records.empty())
    write_whole_file(files.flow_records, flow_records_csv(report.flow_groups));
  if (files.csv_directory.empty()) return;
  const std::filesystem::path directory(files.csv_directory);
  for (const auto& file : csv_files(report))
    write_whole_file((directory / file.name).string(), file.text);
  for (const auto& stream : report.streams.streams) {
    if (stream.samples_kept == 0) continue;
    write_whole_file((directory / "latency-samples.csv").string(),
                     StreamEngine::samples_csv(streams));
    break;
  }
}

}  // namespace outrider::tg
