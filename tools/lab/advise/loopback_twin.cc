#include "tools/lab/advise/loopback_twin.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "trafficgen/workload/config/model_profile.h"

namespace outrider::lab {
namespace {

/// Two polling processes carry it on two processors.
constexpr BitRate kCarried{100'000'000};
/// The time of the bursts of all workers on the link. A case has eight of them.
constexpr double kBursts_seconds = 0.5;

/// Bytes of each worker in an iteration, and what else it takes.
struct Round {
  double bytes = 0;
  Duration compute{};  ///< of a closed loop
  Duration period{};   ///< without one; else zero
};

Round round_of(const ClusterJob& job) {
  if (job.period) return {.bytes = static_cast<double>(*job.burst_bytes), .period = *job.period};
  const auto profile = tg::load_model_profile(job.model);
  if (!profile) throw std::runtime_error(format_issues(job.model, profile.issues));
  const tg::ModelProfile& model = *profile.config;
  return {.bytes = static_cast<double>(model.total_bytes),
          .compute = model.forward.value_or(Duration{}) + model.backward.value_or(Duration{})};
}

Duration longer(Duration duration, double factor) {
  return Duration(
      static_cast<Duration::rep>(std::llround(static_cast<double>(duration.count()) * factor)));
}

}  // namespace

std::string no_twin_because(const Cluster& cluster) {
  if (cluster.in_fabric()) return "a fabric has more switches than two processes can be";
  if (!cluster.background.list.empty()) return "the times of a list of flows cannot be slowed down";
  if (!cluster.background.capture.empty()) return "the times of a capture cannot be slowed down";
  return {};
}

LoopbackTwin loopback_twin(const Cluster& cluster) {
  LoopbackTwin twin{.cluster = cluster};
  const double rate = static_cast<double>(cluster.network.rate->bits_per_second);
  twin.slower = std::max(rate / static_cast<double>(kCarried.bits_per_second), 1.0);
  ClusterNetwork& network = twin.cluster.network;
  if (network.marks) network.mark_at_bytes = mark_at(cluster);
  network.rate = BitRate{static_cast<std::uint64_t>(rate / twin.slower)};
  network.rtt = longer(*network.rtt, twin.slower);

  ClusterJob& job = twin.cluster.jobs.front();
  const Round round = round_of(job);
  const double bursts_seconds = 8 * round.bytes * job.workers * twin.slower / rate;
  twin.smaller_bursts = std::min(kBursts_seconds / bursts_seconds, 1.0);
  job.burst_bytes =
      std::max(static_cast<std::uint64_t>(round.bytes * twin.smaller_bursts), std::uint64_t{1});
  const double by = twin.slower * twin.smaller_bursts;
  if (job.period) {
    job.period = longer(round.period, by);
    return twin;
  }
  const Duration compute = longer(round.compute, by);
  job.model.clear();
  job.period = compute + from_seconds(bursts_seconds * twin.smaller_bursts);
  twin.parameters = {{"schedule", ConfigValue(std::string("closed_loop"))},
                     {"compute_seconds", ConfigValue(seconds(compute))}};
  return twin;
}

}  // namespace outrider::lab
