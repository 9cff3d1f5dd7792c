#include "trafficgen/apps/stream_program.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "common/config/process_checks.h"
#include "common/dpdk/eal/lcores.h"
#include "common/runtime/device_check.h"
#include "common/runtime/poll_loop.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/log.h"
#include "common/telemetry/service_manager.h"
#include "trafficgen/apps/run_control.h"
#include "trafficgen/apps/run_progress.h"
#include "trafficgen/config/lcore_plan.h"
#include "trafficgen/measure/program_name.h"
#include "trafficgen/streams/run/stream_process.h"
#include "trafficgen/streams/run/stream_steering.h"

namespace outrider::tg {
namespace {

using Engines = std::vector<std::unique_ptr<StreamEngine>>;

/// Makes an engine for each lcore.
Engines make_engines(const GeneratorConfig& config, const LcorePlan& plan, StreamProcess& process) {
  Engines engines;
  for (std::uint32_t lcore = 0; lcore < cpus_of(config).size(); ++lcore)
    engines.push_back(std::make_unique<StreamEngine>(
        process.engine(config.streams, config.duration,
                       streams_of(config, {.plan = plan, .lcore = lcore}), config.pauses)));
  return engines;
}

/// Returns the lcore of each stream.
std::vector<std::uint32_t> owners_of(const GeneratorConfig& config, const LcorePlan& plan) {
  std::vector<std::uint32_t> owners(config.streams.size());
  for (std::uint32_t lcore = 0; lcore < cpus_of(config).size(); ++lcore)
    for (const std::size_t stream : streams_of(config, {.plan = plan, .lcore = lcore}))
      owners[stream] = lcore;
  return owners;
}

/// Runs every engine on its lcore. Control threads show meanwhile what they publish.
StreamRun run_on_all(const GeneratorConfig& config, const LcorePlan& plan, const Engines& engines,
                     StreamSteering& steering, PollDevices& devices, bool live) {
  const auto lcores = static_cast<std::uint32_t>(engines.size());
  std::vector<std::vector<std::uint32_t>> own(lcores);
  for (std::uint32_t d = 0; d < plan.of_device.size(); ++d) own[plan.of_device[d]].push_back(d);
  RunProgress progress(lcores);
  const RunParts parts;  // there are no hosts
  RunControl control(
      {.live = live, .telemetry = config.telemetry, .devices = stream_devices(config, devices)},
      progress, steering, devices, parts);
  std::vector<StreamRun> runs(lcores);
  run_on_lcores(lcores, [&](std::uint32_t lcore) {
    runs[lcore] = run_streams(*engines[lcore], devices, own[lcore], config.duration,
                              config.stream_drain, [&](const TrafficLive& now) {
                                progress.publish(lcore, now);
                                steering.look(lcore, *engines[lcore], Time{Duration{now.at_ns}});
                              });
  });
  steering.detach();
  control.finish();
  StreamRun all;
  for (const StreamRun& run : runs) {
    all.elapsed = std::max(all.elapsed, run.elapsed);
    all.longest_gap = std::max(all.longest_gap, run.longest_gap);
    all.polls += run.polls;
    all.link_down += run.link_down;
    all.interrupted |= run.interrupted;
  }
  return all;
}

GeneratorReport report_of(std::span<const StreamEngine* const> engines, const StreamRun& run,
                          Histogram bias, const PollDevices& devices) {
  GeneratorReport report;
  report.end_ns = run.elapsed.count();
  report.streams = StreamEngine::report(engines);
  report.streams.loop_bias_ns = std::move(bias);
  report.streams.link_down_checks = run.link_down;
  report.ledger_balanced = balanced(report.streams);
  for (const auto& s : report.streams.streams) report.sent += s.sent;
  report.received = report.streams.ends.arrived;
  report.consumed = report.streams.ends.taken;
  const DeviceLosses losses = devices.losses();
  report.drops[DropReason::kDeviceTxError] = losses.tx_failed;
  losses.put_into(report);
  report.longest_poll_gap_ns = run.longest_gap.count();
  return report;
}

void print_summary(std::ostream& out, const GeneratorReport& r, const StreamRun& run) {
  out << kProgram << ": " << static_cast<double>(r.end_ns) / 1e9 << " s; ledger "
      << (r.ledger_balanced ? "balanced" : "NOT BALANCED") << '\n'
      << to_text(r.streams) << "  devices: " << device_losses_text(r) << "; failed to send "
      << r.drops[DropReason::kDeviceTxError] << ", checks that found a link down " << run.link_down
      << '\n'
      << "  polls " << run.polls << ", longest gap between two "
      << static_cast<double>(r.longest_poll_gap_ns) / 1e3 << " us\n";
}

}  // namespace

int run_stream_program(const GeneratorConfig& config, const ProgramOptions& options,
                       const OutputFiles& files, std::vector<std::string> eal_extra) {
  StreamProcess process(config, options, std::move(eal_extra));
  PollDevices& devices = process.devices();
  if (!process.wait_for_links()) return kExitInterrupted;
  const std::vector<std::uint32_t> cpus = cpus_of(config);
  if (options.devices)
    return tell_devices(kProgram, cpus, devices, from_seconds(options.wait_for_peer_seconds));
  const LcorePlan plan = plan_lcores(config, static_cast<std::uint32_t>(cpus.size()));
  const Engines engines = make_engines(config, plan, process);
  std::vector<const StreamEngine*> parts;
  for (const auto& engine : engines) parts.push_back(engine.get());
  const bool receives = std::ranges::any_of(
      parts, [](const StreamEngine* engine) { return !engine->receive_devices().empty(); });
  Histogram bias = receives ? measure_loop_bias(process.send_pool()) : Histogram{};
  log_info("sending from " + named_cpus(cpus) + "; Ctrl-C ends");
  if (const std::string why = tell_ready(); !why.empty()) log_warn(why);
  StreamSteering steering(process.setup(config.duration), owners_of(config, plan),
                          static_cast<std::uint32_t>(cpus.size()));
  const StreamRun run = run_on_all(config, plan, engines, steering, devices, options.live);
  const GeneratorReport report = report_of(parts, run, std::move(bias), devices);
  print_summary(std::cout, report, run);
  write(files, report, parts);
  devices.require_all();
  if (!report.ledger_balanced) return kExitLedger;
  return run.interrupted ? kExitInterrupted : kExitOk;
}

}  // namespace outrider::tg
