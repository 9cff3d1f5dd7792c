#include "trafficgen/workload/job/job_iterations.h"

#include <algorithm>

#include "trafficgen/workload/job/job.h"
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
std::vector<GradientPiece> all_pieces(const JobSetup& setup) {
  std::vector<GradientPiece> pieces = setup.pieces;
  if (pieces.empty()) {
    for (std::uint32_t s = 0; s < setup.servers.size(); ++s)
      pieces.push_back({0, s, setup.shard_bytes[s]});
    if (setup.servers.empty()) pieces.push_back({0, 0, setup.burst_bytes});
  }
  for (std::uint32_t i = 0; i < pieces.size(); ++i) pieces[i].index = i;
  return pieces;
}

IterationPlanner::Setup planner_setup(const JobSetup& setup) {
  return {.compute = {.seed = setup.seed,
                      .job = setup.draws_as,
                      .first_iteration = setup.first_iteration,
                      .base = setup.compute},
          .pieces = all_pieces(setup),
          .pieces_timed = !setup.pieces.empty(),
          .ready_shares = setup.ready_shares,
          .forward_share = setup.forward_share,
          .recorded = setup.recorded};
}

/// @pre the job has a learner
Learner::Setup learner_setup(const JobSetup& setup, const IterationPlanner& planner) {
  return {.config = setup.config.learner,
          .seed = setup.seed,
          .id = setup.id,
          .job = setup.draws_as,
          .first_iteration = setup.first_iteration,
          .workers = static_cast<std::uint32_t>(setup.workers.size()),
          .shard_bytes = setup.shard_bytes,
          .barrier = bound_of(setup.config) == 0U,
          .start = planner.start_at()};
}

RoundRobin::Setup round_robin_setup(const JobSetup& job, const IterationPlanner& planner) {
  const JobConfig& config = job.config;
  RoundRobin::Setup setup;
  setup.gate.slack = config.r2sp.slack.value_or(setup.gate.slack);
  setup.gate.warm_up_pushes = config.r2sp.warm_up_iterations.value_or(setup.gate.warm_up_pushes);
  if (config.r2sp.tune_batch) {
    setup.batch = config.r2sp.batch.value_or(config.learner.batch);
    for (std::uint32_t w = 0; w < job.workers.size(); ++w)
      setup.times.push_back(planner.nominal(w));
  }
  return setup;
}

}  // namespace

JobIterations::JobIterations(Job& job)
    : job_(job),
      planner_(job.setup().config, planner_setup(job.setup())),
      limit_(job.setup().config.iterations, stop_of(job.setup().config),
             job.setup().config.synchronisation != Synchronisation::kAsp),
      gate_(static_cast<std::uint32_t>(job.setup().workers.size()),
            gate_bound_of(job.setup().config)) {
  const JobSetup& setup = job.setup();
  if (setup.config.learner.model != LearnerModel::kNone)
    learner_.emplace(learner_setup(setup, planner_));
  if (setup.config.synchronisation == Synchronisation::kR2sp)
    round_robin_.emplace(static_cast<RoundRobin::Owner&>(*this), *setup.servers.front(),
                         static_cast<std::uint32_t>(setup.workers.size()),
                         round_robin_setup(setup, planner_));
}

std::optional<IterationPlan> JobIterations::begin(std::uint32_t worker, std::uint32_t iteration,
                                                  Time free_at,
                                                  const ForwardPass* parameters) noexcept {
  const double work = round_robin_ ? round_robin_->work(worker) : 1;
  IterationPlan p = planner_.plan(worker, iteration, free_at, work);
  if (!limit_.begin(iteration, p.begin)) {
    ++counts_.finished_workers;
    if (round_robin_) round_robin_->on_done(worker, free_at);
    if (parameters != nullptr) {  // no next forward pass that could overlap with the last pull
      IterationRecord& last = job_.records().iteration(worker, iteration - 1);
      last.end_ns = last.parameters_ns;
    }
    return std::nullopt;
  }
  if (parameters != nullptr) planner_.overlap(p, *parameters);
  if (p.late) ++counts_.late;
  const std::uint32_t batch = round_robin_ ? round_robin_->batch(worker) : 0;
  if (learner_) learner_->begin_iteration(worker, iteration, batch);
  IterationRecord& r = job_.records().iteration(worker, iteration);
  r.job = job_.setup().id;
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

void JobIterations::end(std::uint32_t worker, std::uint32_t iteration, Time next,
                        Time now) noexcept {
  ++counts_.iterations;
  IterationRecord& r = job_.records().iteration(worker, iteration);
  r.end_ns = r.first_layer_ns = next.time_since_epoch().count();
  r.parameters_ns = now.time_since_epoch().count();
}

/// Notes what has arrived on a lane. @return true if that completes the burst
bool JobIterations::note_arrival(const Lane& lane, std::uint32_t iteration,
                                 const BurstArrival& arrival, Time now) noexcept {
  JobRecords& records = job_.records();
  BurstRecord& record = records.burst(lane.worker, iteration, lane.direction);
  JobRecords::note_first_sent(record, job_.exchange().first_sent_at(lane));
  record.delivered_bytes += arrival.bytes;
  if (!records.complete_lane(lane, iteration)) return false;
  record.delivered_ns = now.time_since_epoch().count();
  ++counts_.bursts;
  Host& receiver = lane.direction == BurstDirection::kPush
                       ? job_.lanes().end(lane.worker, lane.target)
                       : *job_.setup().workers[lane.worker];
  // The segment that is being delivered completes the burst, so the times of that segment's ledger
  // are the burst's.
  const BurstLedger& ledger = receiver.connections().arriving();
  if (ledger.valid() && ledger.burst() == record.identity) record.times = ledger.times();
  return true;
}

void JobIterations::on_pushed(const Lane& lane, std::uint32_t iteration,
                              const BurstArrival& arrival, Time now) noexcept {
  const std::uint32_t worker = lane.worker;
  if (learner_) learner_->push_delivered(worker, lane.target, arrival.missing, now);
  if (!note_arrival(lane, iteration, arrival, now)) return;
  job_.records().iteration(worker, iteration).pushed_ns = now.time_since_epoch().count();
  const std::uint64_t staleness = gate_.on_push(worker);
  const bool pull = job_.setup().config.pull;
  if (!pull) on_staleness(worker, iteration, staleness);
  if (pull || round_robin_) {
    gate_.clear([](std::uint32_t) {});
    if (round_robin_) round_robin_->on_pushed(worker, now);
    return;
  }
  gate_.clear([&](std::uint32_t w) {
    gate_.on_read(w);
    on_cleared(w, gate_.pushes(w) - 1, now);
    job_.worker(w).on_done(gate_.pushes(w) - 1, now);
  });
}

void JobIterations::admit(std::uint32_t worker, Duration held, Time now) noexcept {
  const std::uint32_t iteration = gate_.pushes(worker) - 1;
  job_.records().iteration(worker, iteration).blocked_ns = held.count();
  on_cleared(worker, iteration, now);
  if (job_.setup().config.pull) return job_.collective().admit(worker, now);
  gate_.on_read(worker);
  job_.worker(worker).on_done(iteration, now);
}

void JobIterations::on_cleared(std::uint32_t worker, std::uint32_t iteration, Time now) noexcept {
  job_.records().iteration(worker, iteration).cleared_ns = now.time_since_epoch().count();
}

void JobIterations::on_staleness(std::uint32_t worker, std::uint32_t iteration,
                                 std::uint64_t updates) noexcept {
  IterationRecord& r = job_.records().iteration(worker, iteration);
  r.staleness = std::max(r.staleness, static_cast<std::uint32_t>(updates));
}

void JobIterations::on_pulled(const Lane& lane, std::uint32_t iteration,
                              const BurstArrival& arrival, Time now) noexcept {
  if (learner_) learner_->pull_delivered(lane.worker, lane.target, arrival.missing);
  (void)note_arrival(lane, iteration, arrival, now);
}

void JobIterations::on_parameters(std::uint32_t worker, std::uint32_t tensor, Time now) noexcept {
  job_.worker(worker).on_parameters(tensor, now);
}

void JobIterations::on_answered(const Lane& lane) noexcept {
  if (learner_) learner_->answered(lane.worker, lane.target);
}

void JobIterations::on_blocked(std::uint32_t worker, Time from, Time to) noexcept {
  job_.worker(worker).on_blocked(from, to);
}

void JobIterations::on_done(std::uint32_t worker, std::uint32_t iteration, Time now) noexcept {
  job_.worker(worker).on_done(iteration, now);
}

}  // namespace outrider::tg
