#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "common/core/burst_identity.h"
#include "common/core/burst_ledger.h"
#include "common/core/figure.h"

namespace outrider::tg {

/// The value of instants that have not come, and perhaps never will.
inline constexpr std::int64_t kNotYet_ns = -1;

/// One burst of one worker in one direction, over all its servers.
struct BurstRecord {
  BurstIdentity identity;
  std::uint64_t bytes = 0;                  ///< payload
  std::int64_t due_ns = kNotYet_ns;         ///< gradients (push) or aggregate (pull) ready
  std::int64_t start_sent_ns = kNotYet_ns;  ///< first START
  std::int64_t ack_received_ns = kNotYet_ns;
  std::int64_t released_ns = kNotYet_ns;    ///< handed to the transport
  std::int64_t first_sent_ns = kNotYet_ns;  ///< first data byte left the NIC
  std::int64_t delivered_ns = kNotYet_ns;   ///< last byte in order at the receiver
  std::uint32_t rtos = 0;
  std::uint32_t retransmitted = 0;  ///< segments
  bool ack_timed_out = false;
  /// Bytes that the receivers have, over all servers that have enough (TCP: that have all).
  std::uint64_t delivered_bytes = 0;
  // Bounded-loss transport: bytes of this burst, as far as its senders know,
  std::uint64_t lost_bytes = 0;    ///< transmitted and not arrived, counted every time
  std::uint64_t unsent_bytes = 0;  ///< never sent, because the receiver has enough
  /// Where the time from due to delivered went; absent without attribution, or if not delivered.
  std::optional<BurstTimes> times{};
};

/// One iteration of one worker.
struct IterationRecord {
  std::uint16_t job = 0;
  std::uint16_t worker = 0;
  std::uint32_t iteration = 0;
  std::int64_t begin_ns = kNotYet_ns;
  std::int64_t ready_ns = kNotYet_ns;    ///< gradients, as planned
  std::int64_t pushed_ns = kNotYet_ns;   ///< its push is delivered to all servers, or to the ring
  std::int64_t cleared_ns = kNotYet_ns;  ///< no other worker is waited for any more; not in a ring
  std::int64_t end_ns = kNotYet_ns;      ///< the next forward pass may begin, see docs/jobs.md
  std::int64_t first_gradient_ns = kNotYet_ns;  ///< the earliest of the backward pass
  std::int64_t first_layer_ns = kNotYet_ns;     ///< when the parameters of tensor 0 had arrived
  std::int64_t parameters_ns = kNotYet_ns;  ///< all of them, or with pull off the push delivered
  std::int64_t forward_wait_ns =
      0;                            ///< of the forward pass for parameters, after the first layer's
  std::int64_t nic_sending_ns = 0;  ///< of the host's NIC, since the last parameters_ns
  std::int64_t nic_receiving_ns = 0;
  std::uint32_t ahead = 0;      ///< iterations ahead of the slowest worker, at its begin
  std::uint32_t staleness = 0;  ///< updates of others since it read, see docs/jobs.md
  bool straggled = false;       ///< a straggler rule slowed it
  std::int64_t blocked_ns = 0;  ///< R2SP: held at the gate after its push
  std::uint32_t batch = 0;      ///< samples, if R2SP tunes them
};

/// A step of a list, see StepList, as a worker took it.
struct StepRecord {
  std::uint16_t job = 0;
  std::uint16_t worker = 0;
  std::uint32_t iteration = 0;
  std::uint32_t step = 0;              ///< index in the list
  std::int64_t begin_ns = kNotYet_ns;  ///< of computing; else all steps before it had ended
  std::int64_t end_ns = kNotYet_ns;
};

/// The results of a job. Times of iterations are over all workers' ended iterations.
struct JobReport {
  std::uint16_t job = 0;
  std::string name;
  std::uint32_t workers = 0;
  std::uint64_t iterations = 0;        ///< ended, over all workers
  std::uint64_t straggled = 0;         ///< of these
  std::int64_t begin_ns = kNotYet_ns;  ///< of the first iteration
  std::int64_t end_ns = kNotYet_ns;    ///< of the last iteration that has ended
  bool finished = false;
  std::int64_t iteration_p50_ns = kNotYet_ns;  ///< nearest rank
  std::int64_t iteration_p99_ns = kNotYet_ns;
  std::int64_t iteration_max_ns = kNotYet_ns;
  std::int64_t compute_mean_ns = kNotYet_ns;  ///< begin to gradients ready
  std::int64_t wait_mean_ns = kNotYet_ns;     ///< own push delivered to cleared; not in a ring
  std::int64_t wait_max_ns = kNotYet_ns;
  std::int64_t first_layer_mean_ns = kNotYet_ns;  ///< gradients ready to parameters of tensor 0
  std::int64_t forward_wait_mean_ns = 0;
  double nic_send_idle_share = -1;  ///< of first gradient to all parameters; -1: none
  double nic_receive_idle_share = -1;
  std::uint32_t ahead_max = 0;
  std::vector<std::int64_t> worker_blocked_mean_ns;  ///< [workers]; empty unless R2SP is used
  std::int64_t r2sp_period_ns = kNotYet_ns;          ///< T and the gap, at the end of the run
  std::int64_t r2sp_gap_ns = kNotYet_ns;
  std::vector<std::uint64_t> staleness;  ///< [updates of others]: iterations; empty if all are 0
};

/// Counts STARTs by what workers did to them; see trafficgen/workload/announce/signal_faults.h. A
/// worker sends one to each server; `late` and `early` ones count as `meant` too. Identity: STARTs
/// sent by all hosts == meant - lost + repeated + duplicated + forged + replayed.
struct StartCounts {
  std::uint64_t meant = 0;  ///< due ones, which have left or were lost
  std::uint64_t lost = 0;
  std::uint64_t repeated = 0;  ///< left again because no answer came
  std::uint64_t late = 0;
  std::uint64_t early = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t forged = 0;
  std::uint64_t replayed = 0;

  StartCounts& operator+=(const StartCounts& other) noexcept {
    meant += other.meant;
    lost += other.lost;
    repeated += other.repeated;
    late += other.late;
    early += other.early;
    duplicated += other.duplicated;
    forged += other.forged;
    replayed += other.replayed;
    return *this;
  }
  [[nodiscard]] std::uint64_t sent() const noexcept {
    return meant - lost + repeated + duplicated + forged + replayed;
  }
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, StartCounts>
void fields(V& v, R& r) {
  const auto starts = [&v](const char* name, const char* help, auto& count) {
    v.value(counter(name, "starts", help), count);
  };
  starts("meant", "STARTs that were due, whether they left or were lost", r.meant);
  starts("lost", "STARTs that workers lost on purpose", r.lost);
  starts("repeated", "STARTs that left again because no answer came", r.repeated);
  starts("late", "STARTs that workers sent late on purpose", r.late);
  starts("early", "STARTs that workers sent early on purpose", r.early);
  starts("duplicated", "STARTs that workers sent twice on purpose", r.duplicated);
  starts("forged", "STARTs that workers forged", r.forged);
  starts("replayed", "STARTs that workers replayed", r.replayed);
}

/// What a job counts, or all of them.
struct JobCounts {
  StartCounts starts{};
  std::uint64_t ack_timeouts = 0;
  /// Fixed schedule: iterations whose gradients were due before the last burst was over.
  std::uint64_t late_iterations = 0;
  /// Connections that were reset because more bytes arrived than their sender had handed over.
  std::uint64_t excess_resets = 0;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, JobCounts>
void fields(V& v, R& r) {
  v.value("starts", r.starts);
  v.value(counter("ack_timeouts", "bursts", "Bursts whose START was not answered in time"),
          r.ack_timeouts);
  v.value(counter("late_iterations", "iterations",
                  "Iterations whose gradients were due before the last burst was over"),
          r.late_iterations);
  v.value(counter("excess_resets", "connections",
                  "Connections reset because more bytes arrived than were handed over"),
          r.excess_resets);
}

/// How far a job has come, or all of them. The report has records of these instead.
struct JobProgress {
  std::uint64_t bursts = 0;      ///< delivered
  std::uint64_t iterations = 0;  ///< ended, over all workers
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, JobProgress>
void fields(V& v, R& r) {
  v.value(counter("bursts", "bursts", "Bursts of jobs that were delivered"), r.bursts);
  v.value(counter("iterations", "iterations", "Iterations that ended, over all workers"),
          r.iterations);
}

/// What is shown of a job while it runs.
struct JobLive : JobCounts, JobProgress {};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, JobLive>
void fields(V& v, R& r) {
  fields(v, base_of<JobCounts>(r));
  fields(v, base_of<JobProgress>(r));
}

/// Prints a few readable lines per job.
void print_jobs(std::ostream& out, std::span<const JobReport> jobs);

}  // namespace outrider::tg
