#include "trafficgen/apps/run_control.h"

#include <unistd.h>

#include <iostream>

#include "common/telemetry/log.h"
#include "trafficgen/apps/generator_metrics.h"
#include "trafficgen/apps/generator_telemetry.h"

namespace outrider::tg {
namespace {

void log_left_out(std::size_t streams, const RunParts& parts) {
  const auto left_out = [](const std::string& kind) {
    log_info("telemetry.prometheus: more than " + std::to_string(kMostShownParts) + " of kind " +
             kind + ": no metrics of each, only sums");
  };
  if (streams > kMostShownParts) left_out("stream");
  RunParts::for_each_kind(parts, [&](const char* kind, const auto& cells) {
    if (cells.too_many()) left_out(kind);
  });
}

}  // namespace

RunControl::RunControl(const Setup& setup, const RunProgress& progress, StreamSteering& steering,
                       const PollDevices& devices, const RunParts& parts)
    : progress_(progress), devices_(devices), known_(setup.devices) {
  const auto read = [this] { return live(); };
  prometheus_ = PrometheusEndpoint::serve(setup.telemetry.prometheus, [this, &steering, &parts] {
    return metrics_of(live(), steering.read(), parts);
  });
  if (prometheus_ != nullptr) log_left_out(steering.read().size(), parts);
  if (setup.live) view_.emplace(std::cerr, isatty(STDERR_FILENO) == 1, read);
  add_commands(commands_, read, steering);
}

GeneratorLive RunControl::live() const {
  GeneratorLive live{.counts = progress_.counts(), .devices = known_};
  const DeviceLosses losses = devices_.losses();
  live.counts.drops[DropReason::kDeviceTxError] += losses.tx_failed;
  losses.put_into(live.run);
  live.run.longest_poll_gap_ns = live.counts.longest_poll_gap_ns;
  for (std::size_t d = 0; d < live.devices.size(); ++d) {
    live.devices[d].sent_l1_bytes = live.counts.device_l1_bytes[d];
    live.devices[d].link_up = devices_.up(d);
  }
  return live;
}

void RunControl::finish() {
  if (view_) view_->finish(live());
}

}  // namespace outrider::tg
