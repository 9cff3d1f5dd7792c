#include "trafficgen/measure/job_report.h"

#include <algorithm>
#include <ostream>

namespace outrider::tg {

namespace {

double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

void print_blocking(std::ostream& out, const JobReport& job) {
  const auto [least, most] = std::ranges::minmax(job.worker_blocked_mean_ns);
  out << "    held in turn: mean of the workers from " << ms(least) << " to " << ms(most)
      << " ms; T " << ms(job.r2sp_period_ns) << " ms, gap " << ms(job.r2sp_gap_ns) << " ms\n";
}

void print_staleness(std::ostream& out, const JobReport& job) {
  std::uint64_t sum = 0;
  for (std::size_t s = 0; s < job.staleness.size(); ++s) sum += s * job.staleness[s];
  out << "    staleness: mean "
      << static_cast<double>(sum) / static_cast<double>(std::max<std::uint64_t>(job.iterations, 1))
      << ", longest " << (job.staleness.empty() ? 0 : job.staleness.size() - 1)
      << " updates of others; at most " << job.ahead_max << " iterations ahead of the slowest\n";
}

}  // namespace

void print_jobs(std::ostream& out, std::span<const JobReport> jobs) {
  for (const JobReport& job : jobs) {
    out << "  job " << job.name << ": " << job.workers << " workers, " << job.iterations
        << " iterations of a worker";
    if (job.straggled > 0) out << " (" << job.straggled << " straggled)";
    if (job.iterations == 0) {
      out << '\n';
      continue;
    }
    out << (job.finished ? ", completed in " : ", not completed after ")
        << ms(job.end_ns - job.begin_ns) << " ms\n    iteration: median "
        << ms(job.iteration_p50_ns) << " ms, p99 " << ms(job.iteration_p99_ns) << " ms, longest "
        << ms(job.iteration_max_ns) << " ms; computing " << ms(job.compute_mean_ns)
        << " ms on average\n";
    if (job.wait_mean_ns != kNotYet_ns)
      out << "    waiting for other workers: mean " << ms(job.wait_mean_ns) << " ms, longest "
          << ms(job.wait_max_ns) << " ms\n";
    if (job.nic_send_idle_share >= 0)
      out << "    first layer's parameters " << ms(job.first_layer_mean_ns)
          << " ms after the gradients; forward pass waits " << ms(job.forward_wait_mean_ns)
          << " ms for others; of the communication the NIC is idle " << job.nic_send_idle_share
          << " sending, " << job.nic_receive_idle_share << " receiving\n";
    if (!job.worker_blocked_mean_ns.empty()) print_blocking(out, job);
    if (!job.staleness.empty() || job.ahead_max > 0) print_staleness(out, job);
  }
}

}  // namespace outrider::tg
