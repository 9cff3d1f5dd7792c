#pragma once

#include <memory>
#include <string>

#include "switch/report/snapshots.h"

namespace outrider::sw {

/// The report as text in Prometheus' exposition format 0.0.4. Pure.
/// Names: docs/running.md.
std::string to_prometheus(const SwitchReport& report);

/// Serves "/metrics" over HTTP, from threads on the CPUs that the EAL does not poll with.
class PrometheusEndpoint {
 public:
  /// @param address  "127.0.0.1:9464", as [telemetry] prometheus has been checked
  /// @param snapshots must outlive the endpoint
  /// @throws EnvironmentError if it cannot listen there
  PrometheusEndpoint(const std::string& address, const SwitchSnapshots& snapshots);
  ~PrometheusEndpoint();
  PrometheusEndpoint(const PrometheusEndpoint&) = delete;
  PrometheusEndpoint& operator=(const PrometheusEndpoint&) = delete;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace outrider::sw
