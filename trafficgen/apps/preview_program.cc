#include "trafficgen/apps/preview_program.h"

#include <iostream>

#include "common/config/config_result.h"
#include "common/runtime/poll_program.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "trafficgen/apps/preview.h"
#include "trafficgen/measure/program_name.h"
#include "trafficgen/streams/engine/stream_engine.h"

namespace outrider::tg {
namespace {

void check_preview(const GeneratorConfig& config, const PreviewOptions& wanted) {
  check_report_path(wanted.file, "--preview");
  const bool pcap = wanted.file.ends_with(".pcap");
  if (!pcap && !wanted.file.ends_with(".csv"))
    throw UsageError("--preview " + wanted.file + ": must end with .csv or .pcap");
  if (!config.duration)
    throw UsageError("--preview needs a duration, in the configuration or as --duration");
  if (!pcap && !config.streams.empty() && config.hosts.empty())
    throw UsageError("--preview " + wanted.file +
                     ": packets of streams are shown as .pcap alone; a .csv lists starts of flows");
  if (!pcap) return;
  ConfigIssues issues;
  std::vector<StreamDevice> devices;
  for (const auto& d : config.devices) devices.push_back({d.name, d.line_rate.value_or(BitRate{})});
  check_line_rates(Checks(issues), config.streams, devices);
  if (!issues.empty()) throw UsageError(format_issues("--preview", issues));
}

}  // namespace

int write_preview(const GeneratorConfig& config, const PreviewOptions& wanted) {
  check_preview(config, wanted);
  std::uint64_t written = 0;
  bool ends_before_run = false;
  const char* what = "events";
  if (wanted.file.ends_with(".pcap")) {
    const std::uint64_t limit = preview_limit(wanted.limit, longest_stream_frame(config.streams));
    const PreviewFrames shown = preview_pcap(config, *config.duration, limit, wanted.file);
    if (shown.without_frame != 0)
      std::cout << kProgram << ": " << shown.without_frame
                << " starts of bursts or jobs have no frame of their own\n";
    written = shown.frames;
    ends_before_run = shown.ends_before_run;
    what = "frames";
  } else {
    const Preview shown =
        preview(config, *config.duration, wanted.limit.value_or(kMaxPreviewEvents));
    write_whole_file(wanted.file, shown.csv);
    written = shown.events;
    ends_before_run = shown.ends_before_run;
  }
  std::cout << kProgram << ": " << written << ' ' << what
            << (ends_before_run ? ", the first of more (--preview-limit)" : "") << " in "
            << wanted.file << '\n';
  return kExitOk;
}

}  // namespace outrider::tg
