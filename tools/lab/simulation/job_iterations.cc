#include "tools/lab/simulation/job_iterations.h"

#include <algorithm>
#include <map>

namespace outrider::lab {

std::vector<double> iteration_seconds_of(const Case& definition, const tg::GeneratorReport& report,
                                         std::uint16_t job) {
  std::map<std::uint32_t, std::int64_t> slowest_ns;  // by iteration
  for (const auto& r : report.iterations) {
    if (r.job != job || r.begin_ns == tg::kNotYet_ns || r.end_ns == tg::kNotYet_ns) continue;
    if (r.iteration < definition.skip_iterations) continue;
    auto& slowest = slowest_ns[r.iteration];
    slowest = std::max(slowest, r.end_ns - r.begin_ns);
  }
  std::vector<double> seconds;
  seconds.reserve(slowest_ns.size());
  for (const auto& [iteration, ns] : slowest_ns) seconds.push_back(static_cast<double>(ns) / 1e9);
  return seconds;
}

}  // namespace outrider::lab
