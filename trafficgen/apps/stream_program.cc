#include "trafficgen/apps/stream_program.h"

#include <iostream>
#include <utility>

#include "common/runtime/poll_loop.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/log.h"
#include "trafficgen/measure/program_name.h"
#include "trafficgen/streams/run/stream_process.h"

namespace outrider::tg {
namespace {

GeneratorReport report_of(const StreamEngine& engine, const StreamRun& run, Histogram bias,
                          const PollDevices& devices) {
  GeneratorReport report;
  report.end_ns = run.elapsed.count();
  report.streams = engine.report();
  report.streams.loop_bias_ns = std::move(bias);
  report.streams.link_down_checks = run.link_down;
  report.ledger_balanced = balanced(report.streams);
  for (const auto& s : report.streams.streams) report.sent += s.sent;
  report.received = report.streams.ends.arrived;
  report.consumed = report.streams.ends.taken;
  const PortLosses losses = devices.losses();
  report.drops[DropReason::kDeviceTxError] = losses.tx_failed;
  report.device_rx_missed = losses.rx_missed;
  report.device_rx_nombuf = losses.rx_nombuf;
  report.longest_poll_gap_ns = run.longest_gap.count();
  return report;
}

void print_summary(std::ostream& out, const GeneratorReport& r, const StreamRun& run) {
  out << kProgram << ": " << static_cast<double>(r.end_ns) / 1e9 << " s; ledger "
      << (r.ledger_balanced ? "balanced" : "NOT BALANCED") << '\n'
      << to_text(r.streams) << "  devices: receive missed " << r.device_rx_missed << ", no buffer "
      << r.device_rx_nombuf << ", failed to send " << r.drops[DropReason::kDeviceTxError]
      << ", checks that found a link down " << run.link_down << '\n'
      << "  polls " << run.polls << ", longest gap between two "
      << static_cast<double>(r.longest_poll_gap_ns) / 1e3 << " us\n";
}

}  // namespace

int run_stream_program(const GeneratorConfig& config, const ProgramOptions& options,
                       const OutputFiles& files, std::vector<std::string> eal_extra) {
  StreamProcess process(config, options, std::move(eal_extra));
  PollDevices& devices = process.devices();
  StreamEngine engine = process.engine(config.streams, config.duration);
  if (!wait_for_links(devices, from_seconds(options.wait_for_peer_seconds)))
    return kExitInterrupted;
  Histogram bias =
      engine.receive_devices().empty() ? Histogram{} : measure_loop_bias(process.send_pool());
  log_info("sending from CPU " + std::to_string(config.lcore) + "; Ctrl-C ends");
  const StreamRun run = process.run(engine, config.duration);
  const GeneratorReport report = report_of(engine, run, std::move(bias), devices);
  print_summary(std::cout, report, run);
  write(files, report, &engine);
  devices.require_all();
  if (!report.ledger_balanced) return kExitLedger;
  return run.interrupted ? kExitInterrupted : kExitOk;
}

}  // namespace outrider::tg
