#include "trafficgen/workload/job/job_summary.h"

#include <algorithm>
#include <vector>

namespace outrider::tg {

namespace {

/// Returns the percentile by nearest rank. @pre sorted is not empty, 0 < percent <= 100
std::int64_t percentile(const std::vector<std::int64_t>& sorted, std::size_t percent) {
  return sorted[(sorted.size() * percent + 99) / 100 - 1];
}

void summarise_waits(std::span<const IterationRecord> iterations, JobReport& r) {
  std::int64_t total = 0, count = 0;
  for (const auto& i : iterations) {
    if (i.end_ns == kNotYet_ns || i.cleared_ns == kNotYet_ns || i.pushed_ns == kNotYet_ns) continue;
    total += i.cleared_ns - i.pushed_ns;
    r.wait_max_ns = std::max(r.wait_max_ns, i.cleared_ns - i.pushed_ns);
    ++count;
  }
  if (count > 0) r.wait_mean_ns = total / count;
}

/// Averages over the iterations whose parameters have all arrived.
void summarise_parameters(std::span<const IterationRecord> iterations, JobReport& r) {
  std::int64_t count = 0, first_layer_ns = 0, wait_ns = 0, sending_ns = 0, receiving_ns = 0;
  std::int64_t communication_ns = 0;
  for (const auto& i : iterations) {
    if (i.parameters_ns == kNotYet_ns) continue;
    ++count;
    first_layer_ns += i.first_layer_ns - i.ready_ns;
    wait_ns += i.forward_wait_ns;
    sending_ns += i.nic_sending_ns;
    receiving_ns += i.nic_receiving_ns;
    communication_ns += i.parameters_ns - i.first_gradient_ns;
  }
  if (count == 0) return;
  r.first_layer_mean_ns = first_layer_ns / count;
  r.forward_wait_mean_ns = wait_ns / count;
  if (communication_ns <= 0) return;
  const auto idle = [&](std::int64_t busy_ns) {
    return 1 - static_cast<double>(busy_ns) / static_cast<double>(communication_ns);
  };
  r.nic_send_idle_share = idle(sending_ns);
  r.nic_receive_idle_share = idle(receiving_ns);
}

void summarise_staleness(std::span<const IterationRecord> iterations, JobReport& r) {
  std::uint32_t most = 0;
  for (const auto& i : iterations) {
    r.ahead_max = std::max(r.ahead_max, i.ahead);
    if (i.end_ns != kNotYet_ns) most = std::max(most, i.staleness);
  }
  if (most == 0) return;
  r.staleness.assign(std::size_t{most} + 1, 0);
  for (const auto& i : iterations)
    if (i.end_ns != kNotYet_ns) ++r.staleness[i.staleness];
}

/// Summarises the holds of the R2SP gate. Workers that were never held have entries too.
void summarise_blocking(std::span<const IterationRecord> iterations, JobReport& r) {
  if (std::ranges::all_of(iterations, [](const auto& i) { return i.blocked_ns == 0; })) return;
  std::vector<std::int64_t> counts;
  for (const auto& i : iterations) {
    if (i.end_ns == kNotYet_ns) continue;
    const std::size_t workers = std::max(counts.size(), std::size_t{i.worker} + 1);
    counts.resize(workers);
    r.worker_blocked_mean_ns.resize(workers);
    ++counts[i.worker];
    r.worker_blocked_mean_ns[i.worker] += i.blocked_ns;
  }
  for (std::size_t w = 0; w < counts.size(); ++w)
    if (counts[w] > 0) r.worker_blocked_mean_ns[w] /= counts[w];
}

}  // namespace

JobReport summarise_job(std::span<const IterationRecord> iterations) {
  JobReport r;
  std::vector<std::int64_t> took_ns;
  std::int64_t compute_ns = 0;
  for (const auto& i : iterations) {
    if (i.begin_ns != kNotYet_ns && (r.begin_ns == kNotYet_ns || i.begin_ns < r.begin_ns))
      r.begin_ns = i.begin_ns;
    if (i.end_ns == kNotYet_ns) continue;
    took_ns.push_back(i.end_ns - i.begin_ns);
    compute_ns += i.ready_ns - i.begin_ns;
    r.straggled += i.straggled ? 1 : 0;
    r.end_ns = std::max(r.end_ns, i.end_ns);
  }
  r.iterations = took_ns.size();
  if (took_ns.empty()) return r;
  std::ranges::sort(took_ns);
  r.iteration_p50_ns = percentile(took_ns, 50);
  r.iteration_p99_ns = percentile(took_ns, 99);
  r.iteration_max_ns = took_ns.back();
  r.compute_mean_ns = compute_ns / static_cast<std::int64_t>(took_ns.size());
  summarise_waits(iterations, r);
  summarise_parameters(iterations, r);
  summarise_staleness(iterations, r);
  summarise_blocking(iterations, r);
  return r;
}

}  // namespace outrider::tg
