#include "tools/lab/run/time_estimate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <string_view>

#include "common/config/toml_file.h"
#include "common/core/units.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/run/run_cases.h"
#include "trafficgen/import/step_list.h"
#include "trafficgen/workload/config/model_profile.h"

namespace outrider::lab {
namespace {

constexpr double kSpeedSeconds = 0.5;
/// A process with more memory takes longer to begin than to try.
constexpr std::uint64_t kMostTried_bytes = 500'000'000;

}  // namespace

const ModelSizes::Size& ModelSizes::of_model(const std::string& path) {
  const auto [at, is_new] = sizes_.try_emplace(path);
  if (!is_new) return at->second;
  if (const auto loaded = tg::load_model_profile(path))
    at->second = {loaded.config->total_bytes, loaded.config->compute().value_or(Duration{})};
  return at->second;
}

/// An all-reduce sends what it reduces twice, so half of what is sent stands for a burst.
const ModelSizes::Size& ModelSizes::of_steps(const std::string& path) {
  const auto [at, is_new] = sizes_.try_emplace(path);
  if (!is_new) return at->second;
  if (const auto loaded = tg::load_step_list(path))
    at->second = {tg::bytes_sent(*loaded.config) / 2 / loaded.config->ranks,
                  tg::longest_compute(*loaded.config)};
  return at->second;
}

ModelSizes::Size ModelSizes::of(const tg::JobConfig& job) {
  const Duration given = job.compute.value_or(Duration{});
  if (job.burst_bytes) return {job.burst_bytes, given};
  if (job.steps) return {of_steps(*job.steps).bytes, of_steps(*job.steps).compute + given};
  if (!job.model) return {};
  return {of_model(*job.model).bytes, job.compute.value_or(of_model(*job.model).compute)};
}

std::optional<double> virtual_seconds(const Case& c, ModelSizes& models) {
  if (!c.has_job && c.traffic.duration) return seconds(*c.traffic.duration);
  double longest = 0;
  for (const auto& job : c.traffic.jobs) {
    double period = seconds(job.period);
    if (job.schedule != tg::Schedule::kFixed) {
      const ModelSizes::Size size = models.of(job);
      if (!size.bytes) return std::nullopt;
      const double bits = 8.0 * static_cast<double>(*size.bytes) *
                          static_cast<double>(job.workers.size()) * (job.pull ? 2 : 1);
      period = seconds(size.compute) + 2 * bits * static_cast<double>(c.traffic.jobs.size()) /
                                           static_cast<double>(c.bottleneck.bits_per_second);
    }
    double took = seconds(job.first_due) + job.iterations * period;
    if (job.stop_after) took = std::min(took, seconds(*job.stop_after) + period);
    longest = std::max(longest, seconds(job.start) + took);
  }
  return longest > 0 ? std::optional(longest) : std::nullopt;
}

namespace {

/// Returns the links on the way between two hosts that share no switch, if there are such.
double links_of_paths(const sw::SwitchProcessConfig& c) {
  if (c.switches.size() == 1) return 2;
  std::set<std::string> leaves;
  for (const auto& one : c.switches)
    if (std::ranges::any_of(one.ports, [](const auto& p) { return p.device.has_value(); }))
      leaves.insert(one.name);
  const auto is_leaf = [&leaves](const std::string& end) {
    return leaves.contains(end.substr(0, end.find('.')));
  };
  const auto joins_leaves = [&](const sw::SwitchLinkConfig& l) {
    return is_leaf(l.a) && is_leaf(l.b);
  };
  const auto joins_no_leaf = [&](const sw::SwitchLinkConfig& l) {
    return !is_leaf(l.a) && !is_leaf(l.b);
  };
  if (std::ranges::all_of(c.links, joins_leaves)) return 3;
  return std::ranges::any_of(c.links, joins_no_leaf) ? 6 : 4;
}

/// A dumbbell on which background always sends, to see how fast this machine is.
constexpr std::string_view kSpeedExperiment = R"(
name = "speed"
question = "How many packets does this machine carry in a second?"
seeds = 1
[network]
measured = "a.to_b"
rtt = "2ms"
[[switch]]
name = "a"
[[switch]]
name = "b"
[[link]]
a = "a"
b = "b"
rate = "1gbit"
delay = "500us"
[[hosts]]
name = "worker"
count = "workers"
switch = "a"
rate = "1gbit"
delay = "250us"
[[hosts]]
name = "server"
count = "servers"
switch = "b"
rate = "1gbit"
delay = "250us"
[[hosts]]
name = "sender"
count = 8
switch = "a"
rate = "1gbit"
delay = "250us"
[[hosts]]
name = "receiver"
count = 8
switch = "b"
rate = "1gbit"
delay = "250us"
[background]
from = "sender"
to = "receiver"
[parameters]
switch.queue.limit_packets = 250
switch.marker.threshold_packets = 65
h_packets = 15
transport.controller = "dctcp"
job.burst_bytes = "1MB"
job.iterations = 10000
job.period = "100ms"
[[arm]]
label = "off"
)";

/// Returns the bits that links carry in a second of a processor's time; nothing if a case that is
/// tried for so long has not begun to send.
std::optional<double> bits_per_second(const Case& c, double trial_seconds) {
  const auto trial = try_virtual(c, trial_seconds);
  if (!trial || trial->processor_seconds <= 0) return std::nullopt;
  ModelSizes models;
  const double bits = wire_bits(c, trial->virtual_seconds, models);
  return bits > 0 ? std::optional(bits / trial->processor_seconds) : std::nullopt;
}

/// Returns the bits that a job's hosts send in an iteration.
double bits_of_iteration(const tg::JobConfig& job, ModelSizes& models) {
  const auto bytes = models.of(job).bytes;
  const bool there_and_back = job.pull || !tg::has_servers(job.collective);
  return 8.0 * static_cast<double>(bytes.value_or(0)) * static_cast<double>(job.workers.size()) *
         (there_and_back ? 2 : 1);
}

}  // namespace

Case speed_case() {
  const auto experiment = experiment_from(*parse_toml(kSpeedExperiment).config, {});
  if (!experiment) throw std::logic_error(format_issues("speed", experiment.issues));
  auto plan = make_plan(*experiment.config);
  if (!plan) throw std::logic_error(format_issues("speed", plan.issues));
  return std::move(plan.config->front());
}

double wire_bits(const Case& c, double of_seconds, ModelSizes& models) {
  const double bottleneck_bits = of_seconds * static_cast<double>(c.bottleneck.bits_per_second);
  const double all_seconds = virtual_seconds(c, models).value_or(of_seconds);
  double bits = 0;
  for (const auto& job : c.traffic.jobs) {
    const double begins = seconds(job.start) + seconds(job.first_due);
    const double part = of_seconds >= all_seconds ? 1
                        : of_seconds <= begins    ? 0
                                                  : (of_seconds - begins) / (all_seconds - begins);
    bits += bits_of_iteration(job, models) * job.iterations * part;
  }
  for (const auto& flows : c.traffic.flows)
    bits += flows.rate ? static_cast<double>(flows.rate->bits_per_second) * of_seconds
                       : bottleneck_bits;
  for (const auto& flows : c.traffic.long_flows)
    bits += bottleneck_bits * (c.link_results ? static_cast<double>(flows.from.size()) : 1);
  return bits * links_of_paths(c.switches);
}

void PlanEstimate::add(const Case& c, std::size_t seeds) {
  const auto own = virtual_seconds(c, models_);
  const std::uint64_t memory_bytes = process_memory_bytes(c);
  if (!own) unknown_ = true;
  if (cases_ == 0 && memory_bytes <= kMostTried_bytes) first_ = c;
  wire_bits_ += static_cast<double>(seeds) * wire_bits(c, own.value_or(0), models_);
  memory_bytes_ = std::max(memory_bytes_, memory_bytes);
  cases_ += seeds;
}

std::optional<double> PlanEstimate::seconds(std::size_t jobs, double trial_seconds) const {
  if (unknown_ || cases_ == 0) return std::nullopt;
  std::optional<double> speed;
  if (first_) speed = bits_per_second(*first_, trial_seconds);
  if (!speed) speed = bits_per_second(speed_case(), kSpeedSeconds);
  if (!speed) return std::nullopt;
  return wire_bits_ / *speed / static_cast<double>(std::min(jobs, cases_));
}

std::optional<double> estimate_seconds(const std::vector<Case>& cases, std::size_t jobs,
                                       double trial_seconds) {
  PlanEstimate estimate;
  for (const auto& c : cases) estimate.add(c, 1);
  return estimate.seconds(jobs, trial_seconds);
}

std::string duration_text(double seconds) {
  char text[32];
  if (seconds < 100) std::snprintf(text, sizeof text, "%.0f s", std::ceil(seconds));
  else if (seconds < 6000) std::snprintf(text, sizeof text, "%.0f min", std::ceil(seconds / 60));
  else std::snprintf(text, sizeof text, "%.1f h", seconds / 3600);
  return text;
}

}  // namespace outrider::lab
