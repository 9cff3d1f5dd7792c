#pragma once

// Includes CLI11, which is slow to compile: for main.cc alone.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>

#include "common/runtime/poll_cli.h"
#include "common/telemetry/option_checks.h"
#include "trafficgen/apps/output_files.h"
#include "trafficgen/apps/preview_program.h"

namespace outrider::tg {

/// The generator's command line, in addition to that of every program.
struct GeneratorArguments {
  ProgramOptions program;
  OutputFiles files;
  PreviewOptions preview;
  std::optional<std::uint64_t> seed;
  std::optional<double> stall_seconds;
};

inline void add_options(CLI::App& app, GeneratorArguments& a) {
  add_common_options(app, a.program);
  add_run_options(app, a.program);
  app.add_option("--preview", a.preview.file,
                 "Write what will start when (.csv) or the frames (.pcap), and send nothing")
      ->type_name("FILE");
  app.add_option("--preview-limit", a.preview.limit, "Of lines [5000000] or frames [1000000]")
      ->check(whole_number(1))
      ->needs(app.get_option("--preview"));
  app.add_option("--csv", a.files.csv_directory,
                 "Write bursts, iterations, flows, streams and so on as CSV, on every exit")
      ->type_name("DIRECTORY");
  app.add_option("--flow-records", a.files.flow_records,
                 "Write the records of [[flows]] tables with `records`")
      ->type_name("FILE.csv");
  app.add_option("--seed", a.seed, "Seed of all random draws, instead of the file's")
      ->check(whole_number(0, INT64_MAX));
  app.add_option("--stall", a.stall_seconds,
                 "End with status 7 if hosts send, by all devices or by one, and nothing comes\n"
                 "there for so long [goes on]")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.001, 86400.0))
      ->check(usable_number());
  app.add_option("--streams-csv", a.files.streams_csv, "Write a line of figures a stream")
      ->type_name("FILE.csv");
  app.add_option("--samples", a.files.samples, "Write the raw latencies that streams keep")
      ->type_name("FILE.csv");
  app.add_option("--hops", a.files.hops, "Write the raw hop records that streams of probes keep")
      ->type_name("FILE.csv");
  for (const char* alone : {"--check", "--preview"})
    exclude_all(app, alone,
                {"--report", "--csv", "--flow-records", "--streams-csv", "--samples", "--hops",
                 "--live", "--stall"});
  exclude_all(app, "--check", {"--preview"});
}

}  // namespace outrider::tg
