#include "trafficgen/workload/job/job.h"

#include <algorithm>

#include "common/net/burst_option.h"
#include "common/net/headers.h"
#include "common/net/mlt_message.h"
#include "trafficgen/workload/job/job_summary.h"
#include "trafficgen/workload/job/make_collective.h"
#include "trafficgen/workload/job/make_exchange.h"
#include "trafficgen/workload/job/worker.h"

namespace outrider::tg {

namespace {

/// @param starts must outlive the collective
CollectiveSetup collective_setup(const JobSetup& job, const JobIterations& iterations,
                                 const PullStarts& starts) {
  const JobConfig& c = job.config;
  CollectiveSetup setup{.job = job.id,
                        .workers = job.workers,
                        .servers = job.servers,
                        .shard_bytes = job.shard_bytes,
                        .burst_bytes = job.burst_bytes,
                        .step_list = job.steps,
                        .iterations = c.iterations,
                        .unit_bytes = job.mlt ? mlt::kValueBytes : 1U,
                        .pieces = iterations.planner().pieces(),
                        .send_policy = c.send_policy,
                        .policy = c.policy,
                        .push_policy = c.policy,
                        .message = c.message,
                        .by_tensor = iterations.planner().by_tensor(),
                        .pull = c.pull,
                        .in_turn = c.synchronisation == Synchronisation::kR2sp,
                        .aggregate = c.aggregate,
                        .gate = iterations.gate(),
                        .pull_starts = c.announce.pulls ? &starts : nullptr};
  // Over the bounded-loss transport, pieces are always identified one by one.
  if (job.mlt) setup.push_policy.granularity = Granularity::kTensor;
  return setup;
}

ExchangeSetup make_lanes(const JobSetup& setup, const CollectiveOperation& collective,
                         const GradientMagnitudes* magnitudes) {
  ExchangeSetup e{.job = setup.id,
                  .seed = setup.seed,
                  .tcp = setup.tcp,
                  .mtu_bytes = setup.workers.front()->setup().mtu_bytes,
                  .port = setup.config.tcp_port,
                  .workers = setup.workers,
                  .first_owner = setup.first_owner,
                  .magnitudes = magnitudes,
                  .queue_pairs = setup.config.queue_pairs,
                  .nic_classes = setup.nic_classes};
  for (const Host* h : setup.workers) e.mtu_bytes = std::min(e.mtu_bytes, h->setup().mtu_bytes);
  for (const Host* h : setup.servers) e.mtu_bytes = std::min(e.mtu_bytes, h->setup().mtu_bytes);
  e.tcp.mss_bytes = e.mtu_bytes - kIpAndTcpBytes - kBurstOptionBytes;
  collective.plan(e);
  return e;
}

JobRecords::Setup records_setup(const JobConfig& config, const ExchangeSetup& lanes) {
  JobRecords::Setup setup{.iterations = config.iterations,
                          .workers = static_cast<std::uint32_t>(lanes.workers.size()),
                          .targets = lanes.targets};
  for (std::uint32_t w = 0; w < setup.workers; ++w) {
    setup.lanes.push_back(lanes.targets_of(w));
    for (std::uint32_t t = 0; t < lanes.targets; ++t)
      for (const char* direction : {"push", "pull"})
        setup.flow_names.push_back(t >= setup.lanes[w] ? std::string()
                                                       : config.name + " " + direction + " " +
                                                             lanes.workers[w]->setup().name + " " +
                                                             lanes.end(w, t).setup().name);
  }
  return setup;
}

}  // namespace

Job::Job(const Setup& setup, GoodputSeries& goodput)
    : setup_(setup),
      faults_(
          setup.config.announce.faults,
          {.seed = setup.seed, .job = setup.draws_as, .first_iteration = setup.first_iteration}),
      pull_starts_{.config = setup.config.announce,
                   .faults = &faults_,
                   .key = setup_.signal_key ? &*setup_.signal_key : nullptr,
                   .dscp = dscp_of_bursts(setup_)},
      collective_(make_collective(setup.config, collective_setup(setup_, iterations_, pull_starts_),
                                  records_, iterations_)),
      lanes_(make_lanes(setup_, *collective_, iterations_.magnitudes())),
      records_(records_setup(setup_.config, lanes_), goodput),
      exchange_(make_exchange(lanes_, setup.mlt, setup.roce, records_, *collective_)) {
  collective_->attach(*exchange_);
  for (std::uint32_t w = 0; w < setup_.workers.size(); ++w)
    workers_.push_back(std::make_unique<Worker>(*this, w, *setup_.workers[w]));
}

Job::~Job() = default;

void Job::start(Time now) {
  exchange_->start();
  for (auto& worker : workers_) worker->start(now);
}

void Job::fill_flows(JobsReport& report) const {
  for (std::uint32_t w = 0; w < workers_.size(); ++w) {
    const std::uint32_t targets = lanes_.targets_of(w);
    for (std::uint32_t t = 0; t < targets; ++t) {
      report.flows.push_back(exchange_->report({w, t, BurstDirection::kPush}));
      if (!collective_->answers()) continue;
      report.flows.push_back(exchange_->report({w, t, BurstDirection::kPull}));
    }
  }
}

void Job::fill(JobsReport& report) const {
  exchange_->note_last();
  for (const auto& b : records_.bursts())
    if (b.due_ns != kNotYet_ns) report.bursts.push_back(b);
  for (const auto& i : records_.iterations())
    if (i.end_ns != kNotYet_ns) report.iterations.push_back(i);
  const auto steps = collective_->steps();
  report.steps.insert(report.steps.end(), steps.begin(), steps.end());
  fill_flows(report);
  JobReport summary = summarise_job(records_.iterations());
  summary.job = setup_.id;
  summary.name = setup_.config.name;
  summary.workers = static_cast<std::uint32_t>(workers_.size());
  summary.finished = finished() && !gave_up();
  if (const auto& turns = iterations_.round_robin()) {
    summary.r2sp_period_ns = turns->gate().period().count();
    summary.r2sp_gap_ns = turns->gate().gap().count();
  }
  report.jobs.push_back(summary);
  if (const auto& learner = iterations_.learner()) {
    report.learners.push_back(learner->report());
    report.learners.back().name = setup_.config.name;
  }
  report.roce += exchange_->roce();
}

JobLive Job::live() const noexcept {
  JobLive live;
  live.late_iterations = iterations_.counts().late;
  live.excess_resets = records_.excess_resets();
  collective_->add_starts(live.starts, live.ack_timeouts);
  for (const auto& worker : workers_) {
    live.ack_timeouts += worker->announcer().timeouts();
    live.starts += worker->announcer().counts();
  }
  static_cast<JobProgress&>(live) = iterations_.counts();
  return live;
}

}  // namespace outrider::tg
