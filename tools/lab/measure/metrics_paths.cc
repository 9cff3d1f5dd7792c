#include "tools/lab/measure/metrics_paths.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace outrider::lab {
namespace {

/// Returns the frame bytes that a port sent from all its queues.
double sent_bytes(const sw::SwitchReport& report, const std::string& sw, const std::string& port) {
  std::uint64_t bytes = 0;
  for (const auto& queue : report.queues) {
    if (queue.switch_name != sw || queue.port_name != port) continue;
    const auto& sent = queue.transmitted_bytes.values;
    bytes = std::accumulate(sent.begin(), sent.end(), bytes);
  }
  return static_cast<double>(bytes);
}

}  // namespace

PathBalance path_balance(const sw::SwitchProcessConfig& switches, const sw::SwitchReport& report) {
  PathBalance worst;
  for (const auto& sw : switches.switches) {
    for (const auto& route : sw.routes) {
      if (route.ports.size() < 2) continue;
      double sum = 0, squares = 0, most = 0;
      for (const auto& port : route.ports) {
        const double bytes = sent_bytes(report, sw.name, port);
        sum += bytes;
        squares += bytes * bytes;
        most = std::max(most, bytes);
      }
      if (sum == 0) continue;
      const auto ports = static_cast<double>(route.ports.size());
      const PathBalance here{most * ports / sum, sum * sum / (ports * squares)};
      if (std::isnan(worst.mmr) || here.mmr > worst.mmr) worst = here;
    }
  }
  return worst;
}

}  // namespace outrider::lab
