#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "common/core/clock.h"
#include "common/core/flow_table.h"

namespace outrider {

/// Bounds the time for which each job may hold a queue regulated: at most `share` of every
/// window [n w, (n + 1) w). A job is identified by the server address and port of its
/// bursts, because the TOS signal carries nothing else about it. Windows are fixed, not
/// sliding: within any interval of length w a job holds the queue for less than
/// 2 x share x w.
///
/// Time never decreases. Not thread-safe.
class RegulationBudget {
 public:
  RegulationBudget(double share, Duration window, std::uint32_t max_jobs)
      : allowance_(static_cast<std::int64_t>(share * static_cast<double>(window.count()))),
        window_(window),
        jobs_(max_jobs) {
    assert(share > 0 && share <= 1 && window > Duration::zero());
  }

  /// Changes the bounds for each job's next stretch; it may begin in the middle of a window.
  void change(double share, Duration window) noexcept {
    assert(share > 0 && share <= 1 && window > Duration::zero());
    allowance_ = Duration{static_cast<std::int64_t>(share * static_cast<double>(window.count()))};
    window_ = window;
  }

  /// Counts one more live entry of the flow's job.
  /// @return the instant at which the allowance is used up if the entry stays live; or `now`,
  ///         with nothing taken, if no allowance is left or there is no room for the job
  Time acquire(const FlowKey& flow, Time now) noexcept {
    Job* job = jobs_.find(job_of(flow));
    if (job == nullptr) {
      if (jobs_.size() == jobs_.max_entries()) forget_idle(now);
      job = jobs_.insert(job_of(flow), {});
      if (job == nullptr) return now;
    }
    if (job->live == 0) {
      roll(*job, now);
      if (job->held >= allowance_) return now;
      job->since = now;
    }
    ++job->live;
    return exhausted_at(*job);
  }

  /// Counts the end of one entry of the flow's job at `at`. Ends that are noticed together
  /// may be given in any order. @pre acquire() was called for it
  void release(const FlowKey& flow, Time at) noexcept {
    Job* job = jobs_.find(job_of(flow));
    assert(job != nullptr && job->live > 0);
    job->last_end = std::max(job->last_end, at);
    if (--job->live > 0) return;
    roll(*job, job->last_end);
    job->held += job->last_end - std::max(job->since, job->window_start);
  }

  /// Returns the key that identifies the flow's job.
  static FlowKey job_of(const FlowKey& f) noexcept {
    return {0, f.destination_address, 0, f.destination_port};
  }

  static std::size_t bytes_per_job() noexcept { return 2 * (sizeof(FlowKey) + sizeof(Job) + 8); }

 private:
  struct Job {
    Time window_start{};
    Duration held{};  ///< within the window, without the current stretch
    Time since{};     ///< start of the current stretch, if live > 0
    Time last_end{};  ///< latest end of an entry so far
    std::uint32_t live = 0;
  };

  [[nodiscard]] Time window_start_of(Time t) const noexcept {
    return t - t.time_since_epoch() % window_;
  }

  void roll(Job& job, Time now) const noexcept {
    const Time start = window_start_of(now);
    if (start == job.window_start) return;
    job.window_start = start;
    job.held = Duration::zero();
  }

  /// A stretch that outlives its window is charged to the next window from that window's
  /// start. With share 1 the allowance never ends.
  [[nodiscard]] Time exhausted_at(const Job& job) const noexcept {
    const Time window_end = window_start_of(job.since) + window_;
    const Duration held =
        job.window_start == window_start_of(job.since) ? job.held : Duration::zero();
    const Time end = job.since + (allowance_ - held);
    if (end < window_end) return end;
    return allowance_ >= window_ ? kNever : window_end + allowance_;
  }

  void forget_idle(Time now) noexcept {
    FlowKey idle{};
    bool found = false;
    jobs_.for_each([&](const FlowKey& key, const Job& job) {
      if (!found && job.live == 0 && job.window_start != window_start_of(now)) {
        idle = key;
        found = true;
      }
    });
    if (found) jobs_.erase(idle);
  }

  Duration allowance_;
  Duration window_;
  FlowTable<Job> jobs_;
};

}  // namespace outrider
