#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/telemetry/figures.h"

namespace outrider {

/// The figures of one thing, such as a queue: the beginning of their names and the labels that
/// they share.
struct MetricRecord {
  std::string prefix;  ///< "outrider_queue_"
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<FigureValue> figures;
  bool in_seconds = false;  ///< figures in ns are shown in seconds, and named so
};

/// Returns the records as text in Prometheus' exposition format 0.0.4. Pure. A figure becomes a
/// series of the family that its row names; families come in the order in which they first appear.
std::string to_prometheus(const std::vector<MetricRecord>& records);

/// Serves "/metrics" over HTTP, in threads on CPUs that no EAL lcore polls on.
class PrometheusEndpoint {
 public:
  using Read = std::function<std::vector<MetricRecord>()>;

  /// @param address  such as "127.0.0.1:9464", valid by the rules of TelemetryConfig
  /// @param read  called for each scrape, by several threads at once
  /// @throws EnvironmentError if it cannot listen there
  PrometheusEndpoint(const std::string& address, Read read);
  ~PrometheusEndpoint();
  PrometheusEndpoint(const PrometheusEndpoint&) = delete;
  PrometheusEndpoint& operator=(const PrometheusEndpoint&) = delete;

  /// Returns the endpoint that a configuration asks for; nullptr if it asks for none.
  static std::unique_ptr<PrometheusEndpoint> serve(const std::optional<std::string>& address,
                                                   Read read) {
    if (!address) return nullptr;
    return std::make_unique<PrometheusEndpoint>(*address, std::move(read));
  }

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace outrider
