#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/config/telemetry_config.h"
#include "common/dpdk/eal/telemetry_commands.h"
#include "common/prometheus/endpoint.h"
#include "common/runtime/live_report.h"
#include "common/runtime/poll_devices.h"
#include "trafficgen/apps/run_parts.h"
#include "trafficgen/apps/run_progress.h"
#include "trafficgen/measure/live.h"
#include "trafficgen/streams/run/stream_steering.h"

namespace outrider::tg {

/// Shows a run while its lcores send: the live view, DPDK telemetry and Prometheus, each in
/// threads on CPUs that no lcore polls on.
class RunControl {
 public:
  struct Setup {
    bool live = false;                  ///< show counts on stderr once a second
    TelemetryConfig telemetry{};        ///< the Prometheus endpoint
    std::vector<LiveDevice> devices{};  ///< all of the run
  };
  /// @param progress,steering,devices,parts  must outlive it
  /// @throws EnvironmentError if the endpoint cannot listen; DpdkError
  RunControl(const Setup& setup, const RunProgress& progress, StreamSteering& steering,
             const PollDevices& devices, const RunParts& parts);

  /// Ends the live view with the last counts. Call it when the lcores have ended.
  void finish();

 private:
  [[nodiscard]] GeneratorLive live() const;

  const RunProgress& progress_;
  const PollDevices& devices_;
  std::vector<LiveDevice> known_;
  std::optional<LiveThread<GeneratorLive>> view_;
  TelemetryCommands commands_;
  std::unique_ptr<PrometheusEndpoint> prometheus_;
};

}  // namespace outrider::tg
