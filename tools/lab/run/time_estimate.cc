#include "tools/lab/run/time_estimate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "common/core/units.h"
#include "tools/lab/run/run_cases.h"
#include "trafficgen/workload/config/model_profile.h"

namespace outrider::lab {
namespace {

constexpr double kTrialSeconds = 2;

double bits_to_carry(const Case& c, double of_seconds) {
  return of_seconds * static_cast<double>(c.bottleneck.bits_per_second);
}

}  // namespace

const ModelSizes::Size& ModelSizes::of(const std::string& path) {
  const auto [at, is_new] = sizes_.try_emplace(path);
  if (!is_new) return at->second;
  if (const auto loaded = tg::load_model_profile(path))
    at->second = {loaded.config->total_bytes, loaded.config->compute().value_or(Duration{})};
  return at->second;
}

std::optional<double> virtual_seconds(const Case& c, ModelSizes& models) {
  double longest = 0;
  for (const auto& job : c.traffic.jobs) {
    double period = seconds(job.period);
    if (job.schedule != tg::Schedule::kFixed) {
      const auto model = job.model ? models.of(*job.model) : ModelSizes::Size{};
      const auto bytes = job.burst_bytes ? job.burst_bytes : model.bytes;
      if (!bytes) return std::nullopt;
      const double bits = 8.0 * static_cast<double>(*bytes) *
                          static_cast<double>(job.workers.size()) * (job.pull ? 2 : 1);
      period = seconds(job.compute.value_or(model.compute)) +
               2 * bits * static_cast<double>(c.traffic.jobs.size()) /
                   static_cast<double>(c.bottleneck.bits_per_second);
    }
    double took = seconds(job.first_due) + job.iterations * period;
    if (job.stop_after) took = std::min(took, seconds(*job.stop_after) + period);
    longest = std::max(longest, seconds(job.start) + took);
  }
  return longest > 0 ? std::optional(longest) : std::nullopt;
}

std::optional<double> estimate_seconds(const std::vector<Case>& cases, std::size_t jobs) {
  ModelSizes models;
  const auto of_first = virtual_seconds(cases.front(), models);
  if (!of_first) return std::nullopt;
  const auto trial = try_virtual(cases.front(), kTrialSeconds);
  if (!trial || trial->virtual_seconds <= 0) return std::nullopt;
  const double first_seconds =
      trial->wall_seconds * std::max(1.0, *of_first / trial->virtual_seconds);
  const double seconds_per_bit = first_seconds / bits_to_carry(cases.front(), *of_first);
  double sum = 0;
  for (const auto& c : cases) {
    const auto own = virtual_seconds(c, models);
    if (!own) return std::nullopt;
    sum += seconds_per_bit * bits_to_carry(c, *own);
  }
  return sum / static_cast<double>(std::min(jobs, cases.size()));
}

std::string duration_text(double seconds) {
  char text[32];
  if (seconds < 100) std::snprintf(text, sizeof text, "%.0f s", std::ceil(seconds));
  else if (seconds < 6000) std::snprintf(text, sizeof text, "%.0f min", std::ceil(seconds / 60));
  else std::snprintf(text, sizeof text, "%.1f h", seconds / 3600);
  return text;
}

}  // namespace outrider::lab
