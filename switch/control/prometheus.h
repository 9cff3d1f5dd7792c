#pragma once

#include <memory>
#include <string>

#include "switch/report/process_state.h"
#include "switch/report/snapshots.h"

namespace outrider::sw {

/// Returns report and state as text in Prometheus' exposition format 0.0.4. Pure.
/// docs/running.md lists the names.
std::string to_prometheus(const SwitchReport& report, const ProcessState& state);

/// Serves "/metrics" over HTTP, in threads on CPUs that no EAL lcore polls on.
class PrometheusEndpoint {
 public:
  /// @param address  such as "127.0.0.1:9464", valid by the rules of [telemetry] prometheus
  /// @param snapshots,state must outlive the endpoint
  /// @throws EnvironmentError if it cannot listen there
  PrometheusEndpoint(const std::string& address, const SwitchSnapshots& snapshots,
                     const ProcessStateReader& state);
  ~PrometheusEndpoint();
  PrometheusEndpoint(const PrometheusEndpoint&) = delete;
  PrometheusEndpoint& operator=(const PrometheusEndpoint&) = delete;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace outrider::sw
