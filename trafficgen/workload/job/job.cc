#include "trafficgen/workload/job/job.h"

#include <algorithm>
#include <cassert>

#include "common/net/burst_option.h"
#include "common/net/headers.h"
#include "common/net/mlt_message.h"
#include "trafficgen/workload/job/job_summary.h"
#include "trafficgen/workload/job/make_collective.h"
#include "trafficgen/workload/job/make_exchange.h"
#include "trafficgen/workload/job/worker.h"

namespace outrider::tg {

namespace {

Time stop_of(const JobConfig& config) noexcept {
  return config.stop_after ? Time{} + config.start + *config.stop_after : kNever;
}

/// Returns nothing if there is no bound.
std::optional<std::uint32_t> bound_of(const JobConfig& config) noexcept {
  switch (config.synchronisation) {
    case Synchronisation::kAsp:
    case Synchronisation::kR2sp:
      return std::nullopt;
    case Synchronisation::kSsp:
      return config.staleness_bound;
    case Synchronisation::kBsp:
      break;
  }
  return 0;
}

/// Without servers nobody waits for whole pushes: a worker goes on when it has what it needs, and
/// may push again before another one's last message has arrived.
std::optional<std::uint32_t> gate_bound_of(const JobConfig& config) noexcept {
  return has_servers(config.collective) ? bound_of(config) : std::nullopt;
}

/// Without a model's tensors, each server's shard is one piece; without servers, all bytes are.
std::vector<GradientPiece> all_pieces(const Job::Setup& setup) {
  std::vector<GradientPiece> pieces = setup.pieces;
  if (pieces.empty()) {
    for (std::uint32_t s = 0; s < setup.servers.size(); ++s)
      pieces.push_back({0, s, setup.shard_bytes[s]});
    if (setup.servers.empty()) pieces.push_back({0, 0, setup.burst_bytes});
  }
  for (std::uint32_t i = 0; i < pieces.size(); ++i) pieces[i].index = i;
  return pieces;
}

}  // namespace

std::uint8_t dscp_of_bursts(const Job::Setup& setup) noexcept {
  return setup.roce ? static_cast<std::uint8_t>(setup.roce->dscp) : 0;
}

Job::Job(const Setup& setup, GoodputSeries& goodput)
    : setup_(setup),
      planner_(setup_.config, planner_setup()),
      faults_(
          setup.config.announce.faults,
          {.seed = setup.seed, .job = setup.draws_as, .first_iteration = setup.first_iteration}),
      pull_starts_{.config = setup.config.announce,
                   .faults = &faults_,
                   .key = setup_.signal_key ? &*setup_.signal_key : nullptr,
                   .dscp = dscp_of_bursts(setup_)},
      limit_(setup.config.iterations, stop_of(setup.config),
             setup.config.synchronisation != Synchronisation::kAsp),
      gate_(static_cast<std::uint32_t>(setup.workers.size()), gate_bound_of(setup.config)),
      collective_(make_collective(setup.config, collective_setup(), records_, *this)),
      lanes_(make_lanes()),
      records_(records_setup(), goodput),
      exchange_(make_exchange(lanes_, setup.mlt, setup.roce, records_, *collective_)) {
  collective_->attach(*exchange_);
  make_learner();
  make_round_robin();
  for (std::uint32_t w = 0; w < setup_.workers.size(); ++w)
    workers_.push_back(std::make_unique<Worker>(*this, w, *setup_.workers[w]));
}

Job::~Job() = default;

IterationPlanner::Setup Job::planner_setup() const {
  return {.compute = {.seed = setup_.seed,
                      .job = setup_.draws_as,
                      .first_iteration = setup_.first_iteration,
                      .base = setup_.compute},
          .pieces = all_pieces(setup_),
          .pieces_timed = !setup_.pieces.empty(),
          .ready_shares = setup_.ready_shares,
          .forward_share = setup_.forward_share,
          .recorded = setup_.recorded};
}

CollectiveSetup Job::collective_setup() const {
  const JobConfig& c = setup_.config;
  CollectiveSetup setup{.job = setup_.id,
                        .workers = setup_.workers,
                        .servers = setup_.servers,
                        .shard_bytes = setup_.shard_bytes,
                        .burst_bytes = setup_.burst_bytes,
                        .unit_bytes = setup_.mlt ? mlt::kValueBytes : 1U,
                        .pieces = planner_.pieces(),
                        .send_policy = c.send_policy,
                        .policy = c.policy,
                        .push_policy = c.policy,
                        .message = c.message,
                        .by_tensor = planner_.by_tensor(),
                        .pull = c.pull,
                        .in_turn = c.synchronisation == Synchronisation::kR2sp,
                        .aggregate = c.aggregate,
                        .gate = gate_,
                        .pull_starts = c.announce.pulls ? &pull_starts_ : nullptr};
  // Over the bounded-loss transport, pieces are always identified one by one.
  if (setup_.mlt) setup.push_policy.granularity = Granularity::kTensor;
  return setup;
}

ExchangeSetup Job::make_lanes() const {
  ExchangeSetup e{.job = setup_.id,
                  .seed = setup_.seed,
                  .tcp = setup_.tcp,
                  .mtu_bytes = setup_.workers.front()->setup().mtu_bytes,
                  .port = setup_.config.tcp_port,
                  .workers = setup_.workers,
                  .first_owner = setup_.first_owner,
                  .nic_classes = setup_.nic_classes};
  for (const Host* h : setup_.workers) e.mtu_bytes = std::min(e.mtu_bytes, h->setup().mtu_bytes);
  for (const Host* h : setup_.servers) e.mtu_bytes = std::min(e.mtu_bytes, h->setup().mtu_bytes);
  e.tcp.mss_bytes = e.mtu_bytes - kIpAndTcpBytes - kBurstOptionBytes;
  if (setup_.config.learner.model != LearnerModel::kNone) e.magnitudes = this;
  collective_->plan(e);
  return e;
}

void Job::make_learner() {
  const JobConfig& config = setup_.config;
  if (config.learner.model == LearnerModel::kNone) return;
  learner_.emplace(Learner::Setup{.config = config.learner,
                                  .seed = setup_.seed,
                                  .id = setup_.id,
                                  .job = setup_.draws_as,
                                  .first_iteration = setup_.first_iteration,
                                  .workers = static_cast<std::uint32_t>(setup_.workers.size()),
                                  .shard_bytes = setup_.shard_bytes,
                                  .barrier = bound_of(config) == 0U,
                                  .start = planner_.start_at()});
}

void Job::make_round_robin() {
  const JobConfig& config = setup_.config;
  if (config.synchronisation != Synchronisation::kR2sp) return;
  const auto workers = static_cast<std::uint32_t>(setup_.workers.size());
  RoundRobin::Setup setup;
  setup.gate.slack = config.r2sp.slack.value_or(setup.gate.slack);
  setup.gate.warm_up_pushes = config.r2sp.warm_up_iterations.value_or(setup.gate.warm_up_pushes);
  if (config.r2sp.tune_batch) {
    setup.batch = config.r2sp.batch.value_or(config.learner.batch);
    for (std::uint32_t w = 0; w < workers; ++w) setup.times.push_back(planner_.nominal(w));
  }
  round_robin_.emplace(static_cast<RoundRobin::Owner&>(*this), *setup_.servers.front(), workers,
                       setup);
}

JobRecords::Setup Job::records_setup() const {
  JobRecords::Setup setup{.iterations = setup_.config.iterations,
                          .workers = static_cast<std::uint32_t>(setup_.workers.size()),
                          .targets = lanes_.targets};
  for (std::uint32_t w = 0; w < setup.workers; ++w) {
    setup.lanes.push_back(lanes_.targets_of(w));
    for (std::uint32_t t = 0; t < lanes_.targets; ++t)
      for (const char* direction : {"push", "pull"})
        setup.flow_names.push_back(t >= setup.lanes[w] ? std::string()
                                                       : setup_.config.name + " " + direction +
                                                             " " + setup_.workers[w]->setup().name +
                                                             " " + target(w, t).setup().name);
  }
  return setup;
}

void Job::start(Time now) {
  exchange_->start();
  for (auto& worker : workers_) worker->start(now);
}

std::uint64_t Job::push_bytes(std::uint32_t worker) const noexcept {
  std::uint64_t bytes = 0;
  const std::uint32_t targets = targets_of(worker);
  for (std::uint32_t t = 0; t < targets; ++t) bytes += collective_->push_bytes(worker, t);
  return bytes;
}

std::optional<IterationPlan> Job::begin(std::uint32_t worker, std::uint32_t iteration, Time free_at,
                                        const ForwardPass* parameters) noexcept {
  const double work = round_robin_ ? round_robin_->work(worker) : 1;
  IterationPlan p = planner_.plan(worker, iteration, free_at, work);
  if (!limit_.begin(iteration, p.begin)) {
    ++finished_workers_;
    if (round_robin_) round_robin_->on_done(worker, free_at);
    if (parameters != nullptr) {  // no next forward pass that could overlap with the last pull
      IterationRecord& last = records_.iteration(worker, iteration - 1);
      last.end_ns = last.parameters_ns;
    }
    return std::nullopt;
  }
  if (parameters != nullptr) planner_.overlap(p, *parameters);
  if (p.late) ++late_iterations_;
  const std::uint32_t batch = round_robin_ ? round_robin_->batch(worker) : 0;
  if (learner_) learner_->begin_iteration(worker, iteration, batch);
  IterationRecord& r = records_.iteration(worker, iteration);
  r.job = setup_.id;
  r.worker = static_cast<std::uint16_t>(worker);
  r.iteration = iteration;
  r.begin_ns = p.begin.time_since_epoch().count();
  r.ready_ns = p.gradients_ready.time_since_epoch().count();
  r.first_gradient_ns = planner_.first_gradient_at(p).time_since_epoch().count();
  r.forward_wait_ns = p.forward_wait.count();
  r.ahead = iteration - std::min(iteration, gate_.slowest());
  r.straggled = p.straggles;
  r.batch = batch;
  return p;
}

/// The segment that is being delivered completes the burst, so the times of that segment's ledger
/// are the burst's.
void Job::note_times(BurstRecord& record, Host& receiver) noexcept {
  const BurstLedger& ledger = receiver.connections().arriving();
  if (ledger.valid() && ledger.burst() == record.identity) record.times = ledger.times();
}

void Job::on_pushed(const Lane& lane, std::uint32_t iteration, const BurstArrival& arrival,
                    Time now) noexcept {
  const std::uint32_t worker = lane.worker;
  if (learner_) learner_->push_delivered(worker, lane.target, arrival.missing, now);
  BurstRecord& record = records_.burst(worker, iteration, BurstDirection::kPush);
  JobRecords::note_first_sent(record, exchange_->first_sent_at(lane));
  record.delivered_bytes += arrival.bytes;
  if (!records_.complete_lane(lane, iteration)) return;
  record.delivered_ns = now.time_since_epoch().count();
  ++delivered_bursts_;
  note_times(record, target(worker, lane.target));
  records_.iteration(worker, iteration).pushed_ns = record.delivered_ns;
  const std::uint64_t staleness = gate_.on_push(worker);
  if (!setup_.config.pull) on_staleness(worker, iteration, staleness);
  if (setup_.config.pull || round_robin_) {
    gate_.clear([](std::uint32_t) {});
    if (round_robin_) round_robin_->on_pushed(worker, now);
    return;
  }
  gate_.clear([&](std::uint32_t w) {
    gate_.on_read(w);
    on_cleared(w, gate_.pushes(w) - 1, now);
    workers_[w]->on_done(gate_.pushes(w) - 1, now);
  });
}

void Job::admit(std::uint32_t worker, Duration held, Time now) noexcept {
  const std::uint32_t iteration = gate_.pushes(worker) - 1;
  records_.iteration(worker, iteration).blocked_ns = held.count();
  on_cleared(worker, iteration, now);
  if (setup_.config.pull) {
    collective_->admit(worker, now);
    return;
  }
  gate_.on_read(worker);
  workers_[worker]->on_done(iteration, now);
}

void Job::on_cleared(std::uint32_t worker, std::uint32_t iteration, Time now) noexcept {
  records_.iteration(worker, iteration).cleared_ns = now.time_since_epoch().count();
}

void Job::on_staleness(std::uint32_t worker, std::uint32_t iteration,
                       std::uint64_t updates) noexcept {
  IterationRecord& r = records_.iteration(worker, iteration);
  r.staleness = std::max(r.staleness, static_cast<std::uint32_t>(updates));
}

void Job::on_pulled(const Lane& lane, std::uint32_t iteration, const BurstArrival& arrival,
                    Time now) noexcept {
  if (learner_) learner_->pull_delivered(lane.worker, lane.target, arrival.missing);
  BurstRecord& record = records_.burst(lane.worker, iteration, BurstDirection::kPull);
  JobRecords::note_first_sent(record, exchange_->first_sent_at(lane));
  record.delivered_bytes += arrival.bytes;
  if (!records_.complete_lane(lane, iteration)) return;
  record.delivered_ns = now.time_since_epoch().count();
  ++delivered_bursts_;
  note_times(record, *setup_.workers[lane.worker]);
}

void Job::on_parameters(std::uint32_t worker, std::uint32_t tensor, Time now) noexcept {
  workers_[worker]->on_parameters(tensor, now);
}

void Job::on_answered(const Lane& lane) noexcept {
  if (learner_) learner_->answered(lane.worker, lane.target);
}

void Job::on_blocked(std::uint32_t worker, Time from, Time to) noexcept {
  workers_[worker]->on_blocked(from, to);
}

void Job::on_done(std::uint32_t worker, std::uint32_t iteration, Time now) noexcept {
  workers_[worker]->on_done(iteration, now);
}

void Job::on_iteration_end(std::uint32_t worker, std::uint32_t iteration, Time next,
                           Time now) noexcept {
  ++ended_iterations_;
  IterationRecord& r = records_.iteration(worker, iteration);
  r.end_ns = r.first_layer_ns = next.time_since_epoch().count();
  r.parameters_ns = now.time_since_epoch().count();
}

void Job::fill_flows(JobsReport& report) const {
  for (std::uint32_t w = 0; w < workers_.size(); ++w) {
    const std::uint32_t targets = targets_of(w);
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
  fill_flows(report);
  JobReport summary = summarise_job(records_.iterations());
  summary.job = setup_.id;
  summary.name = setup_.config.name;
  summary.workers = static_cast<std::uint32_t>(workers_.size());
  summary.finished = finished() && !gave_up();
  if (round_robin_) {
    summary.r2sp_period_ns = round_robin_->gate().period().count();
    summary.r2sp_gap_ns = round_robin_->gate().gap().count();
  }
  report.jobs.push_back(summary);
  if (learner_) {
    report.learners.push_back(learner_->report());
    report.learners.back().name = setup_.config.name;
  }
  report.roce += exchange_->roce();
}

JobLive Job::live() const noexcept {
  JobLive live;
  live.late_iterations = late_iterations_;
  live.excess_resets = records_.excess_resets();
  collective_->add_starts(live.starts, live.ack_timeouts);
  for (const auto& worker : workers_) {
    live.ack_timeouts += worker->announcer().timeouts();
    live.starts += worker->announcer().counts();
  }
  live.bursts = delivered_bursts_;
  live.iterations = ended_iterations_;
  return live;
}

}  // namespace outrider::tg
