#include "trafficgen/workload/job.h"

#include <algorithm>
#include <cassert>

#include "common/net/burst_option.h"
#include "trafficgen/workload/server.h"
#include "trafficgen/workload/worker.h"

namespace outrider {

namespace {

constexpr std::uint32_t kIpAndTcpBytes = 40;

Time stop_of(const JobConfig& config) noexcept {
  return config.stop_after ? Time{} + config.start + *config.stop_after : kNever;
}

}  // namespace

Job::Job(const Setup& setup, GoodputSeries& goodput)
    : setup_(setup),
      tcp_(setup.tcp),
      compute_(setup.config, {.seed = setup.seed, .job = setup.id, .base = setup.compute}),
      limit_(setup.config.iterations, stop_of(setup.config), true) {
  const auto workers = static_cast<std::uint32_t>(setup.workers.size());
  const auto servers = static_cast<std::uint32_t>(setup.servers.size());
  const std::uint32_t iterations = setup.config.iterations;
  std::uint32_t mtu_bytes = setup.workers.front()->mtu_bytes();
  for (const Host* h : setup.workers) mtu_bytes = std::min(mtu_bytes, h->mtu_bytes());
  for (const Host* h : setup.servers) mtu_bytes = std::min(mtu_bytes, h->mtu_bytes());
  tcp_.control.mss_bytes = mtu_bytes - kIpAndTcpBytes - kBurstOptionBytes;

  bursts_.resize(std::size_t{iterations} * workers * 2);
  shards_missing_.assign(bursts_.size(), servers);
  iterations_.resize(std::size_t{iterations} * workers);
  pushes_missing_.assign(iterations, workers);
  for (std::uint32_t w = 0; w < workers; ++w)
    for (std::uint32_t s = 0; s < servers; ++s)
      for (const char* direction : {"push", "pull"})
        flows_.emplace_back(setup.config.name + " " + direction + " " + setup.workers[w]->name() +
                                " " + setup.servers[s]->name(),
                            TrafficClass::kDdl, goodput);
  for (std::uint32_t w = 0; w < workers; ++w)
    workers_.push_back(std::make_unique<Worker>(*this, w, *setup.workers[w]));
  for (std::uint32_t s = 0; s < servers; ++s)
    servers_.push_back(std::make_unique<Server>(*this, s, *setup.servers[s]));
}

Job::~Job() = default;

void Job::start(Time now) {
  for (auto& server : servers_) server->start();
  for (auto& worker : workers_) worker->start(now);
}

std::uint64_t Job::shard_bytes(std::uint32_t server) const noexcept {
  const std::uint64_t servers = setup_.servers.size();
  return setup_.burst_bytes / servers + (server < setup_.burst_bytes % servers ? 1 : 0);
}

Job::Plan Job::plan(std::uint32_t worker, std::uint32_t iteration, Time free_at) const noexcept {
  const JobConfig& c = setup_.config;
  if (c.schedule == Schedule::kClosedLoop) {
    const ComputeTime::Sample compute = compute_.of(worker, iteration);
    return {free_at, free_at + compute.time, false, compute.straggled};
  }
  RandomStream jitter = compute_.stream(worker, iteration, RandomPurpose::kBurstDue);
  const ComputeTime::Sample late = compute_.lateness(worker, iteration);
  const Time due = start_at() + c.first_due + c.period * static_cast<std::int64_t>(iteration) +
                   from_seconds(seconds(c.due_jitter) * jitter.uniform()) + late.time;
  return {due, std::max(due, free_at), free_at > due, late.straggled};
}

std::optional<Job::Plan> Job::begin(std::uint32_t worker, std::uint32_t iteration,
                                    Time free_at) noexcept {
  const Plan p = plan(worker, iteration, free_at);
  if (!limit_.begin(iteration, p.begin)) {
    ++finished_workers_;
    return std::nullopt;
  }
  if (p.late) ++late_iterations_;
  iterations_[std::size_t{iteration} * workers_.size() + worker] = {
      .job = setup_.id,
      .worker = static_cast<std::uint16_t>(worker),
      .iteration = iteration,
      .begin_ns = p.begin.time_since_epoch().count(),
      .ready_ns = p.gradients_ready.time_since_epoch().count(),
      .straggled = p.straggles};
  return p;
}

std::size_t Job::burst_index(std::uint32_t worker, std::uint32_t iteration,
                             BurstDirection d) const noexcept {
  return (std::size_t{iteration} * setup_.workers.size() + worker) * 2 +
         (d == BurstDirection::kPull ? 1 : 0);
}

BurstRecord& Job::burst(std::uint32_t worker, std::uint32_t iteration, BurstDirection d) noexcept {
  return bursts_[burst_index(worker, iteration, d)];
}

FlowTotals& Job::push_flow(std::uint32_t worker, std::uint32_t server) noexcept {
  return flows_[(std::size_t{worker} * setup_.servers.size() + server) * 2];
}

FlowTotals& Job::pull_flow(std::uint32_t worker, std::uint32_t server) noexcept {
  return flows_[(std::size_t{worker} * setup_.servers.size() + server) * 2 + 1];
}

/// One shard of a burst has arrived: the sender knows when its first byte left.
void Job::note_sender(BurstRecord& record, const TcpConnection* sender, Time now) noexcept {
  const auto first = sender == nullptr ? std::nullopt : sender->watched_sent_at();
  if (first) {
    const auto at = first->time_since_epoch().count();
    record.first_sent_ns =
        record.first_sent_ns == kNotYet_ns ? at : std::min(record.first_sent_ns, at);
  }
  record.delivered_ns = now.time_since_epoch().count();
}

void Job::on_push_shard(std::uint32_t worker, std::uint32_t server, std::uint32_t iteration,
                        Time now) noexcept {
  const std::size_t index = burst_index(worker, iteration, BurstDirection::kPush);
  BurstRecord& record = bursts_[index];
  const bool complete = --shards_missing_[index] == 0;
  note_sender(record, workers_[worker]->connection(server), now);
  if (!complete) {
    record.delivered_ns = kNotYet_ns;
    return;
  }
  if (--pushes_missing_[iteration] > 0 || setup_.config.pull) return;
  for (auto& w : workers_) w->on_barrier(iteration, now);
}

void Job::on_pull_shard(std::uint32_t worker, std::uint32_t server, std::uint32_t iteration,
                        Time now) noexcept {
  const std::size_t index = burst_index(worker, iteration, BurstDirection::kPull);
  const bool complete = --shards_missing_[index] == 0;
  note_sender(bursts_[index], servers_[server]->connection(worker), now);
  if (!complete) bursts_[index].delivered_ns = kNotYet_ns;
}

void Job::on_iteration_end(std::uint32_t worker, std::uint32_t iteration, Time now) noexcept {
  iterations_[std::size_t{iteration} * workers_.size() + worker].end_ns =
      now.time_since_epoch().count();
}

void Job::fill(GeneratorReport& report) const {
  for (const auto& b : bursts_)
    if (b.due_ns != kNotYet_ns) report.bursts.push_back(b);
  for (const auto& i : iterations_)
    if (i.end_ns != kNotYet_ns) report.iterations.push_back(i);
  for (std::uint32_t w = 0; w < workers_.size(); ++w) {
    for (std::uint32_t s = 0; s < servers_.size(); ++s) {
      const auto live = [](const TcpConnection* c) {
        return c == nullptr ? nullptr : &c->counters();
      };
      const std::size_t push = (std::size_t{w} * servers_.size() + s) * 2;
      report.flows.push_back(flows_[push].report(live(workers_[w]->connection(s))));
      if (setup_.config.pull)
        report.flows.push_back(flows_[push + 1].report(live(servers_[s]->connection(w))));
    }
  }
  report.late_iterations += late_iterations_;
  report.ack_timeouts += ack_timeouts_;
}

}  // namespace outrider
