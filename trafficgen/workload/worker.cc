#include "trafficgen/workload/worker.h"

#include <algorithm>
#include <cassert>

#include "trafficgen/policy/make_send_policy.h"
#include "trafficgen/workload/ring_member.h"

namespace outrider {

namespace {

BurstAnnouncer::Setup announcer_setup(const Job& job, std::uint32_t worker) {
  const JobConfig& config = job.setup().config;
  BurstAnnouncer::Setup setup{
      .config = config.announce, .worker = worker, .tcp_port = config.tcp_port};
  for (std::uint32_t t = 0; t < job.targets(); ++t)
    setup.targets.push_back(
        {&job.target(worker, t), job.is_ring() ? job.push_bytes(worker) : job.shard_bytes(t)});
  return setup;
}

}  // namespace

Worker::Worker(Job& job, std::uint32_t index, Host& host)
    : job_(job),
      index_(index),
      host_(host),
      announcer_(announcer_setup(job, index), job.faults(), host, *this),
      policy_(make_send_policy(job.setup().config.send_policy, job.send_policy(), job.targets(),
                               job.pieces())) {
  if (job.by_tensor()) forward_.emplace(job.forward_pass());
}

Worker::~Worker() = default;

BurstRecord& Worker::burst(std::uint32_t iteration) noexcept {
  return job_.records().burst(index_, iteration, BurstDirection::kPush);
}

void Worker::start(Time now) {
  if (job_.start_at() > now) return set_timer(kJobStarts, job_.start_at());
  begin_job(now);
}

void Worker::begin_job(Time now) noexcept {
  job_.exchange().open(index_, now);
  begin_iteration(0, now);
  announcer_.start(now);
}

/// By tensor: when all parameters are there. Its forward pass may have begun before, as
/// soon as those of the first layer were; nothing on the wire depends on it until now.
void Worker::begin_iteration(std::uint32_t iteration, Time now) noexcept {
  const bool overlaps = forward_ && iteration > 0;
  const auto plan = job_.begin(index_, iteration, overlaps ? forward_->first() : now,
                               overlaps ? &*forward_ : nullptr);
  if (!plan) return;
  if (forward_) forward_->begin();
  iteration_ = iteration;
  plan_ = *plan;
  next_piece_ = 0;
  policy_->begin(now);
  policy_wakes_at_ = kNever;
  ready_ = released_ = false;
  pulls_missing_ = job_.targets();
  BurstRecord& r = record();
  r.identity = {job_.setup().id, static_cast<std::uint16_t>(index_), iteration,
                BurstDirection::kPush};
  r.bytes = job_.push_bytes(index_);
  job_.exchange().begin_iteration(index_, iteration);
  announcer_.begin(iteration, job_.ready_at(plan_, 0), now);
  set_timer(kGradientsReady, job_.ready_at(plan_, 0));
}

/// Timers carry their iteration: one that was set for an earlier one is stale.
void Worker::set_timer(Tag tag, Time at) noexcept {
  host_.set_timer(*this, iteration_ * kTags + tag, at);
}

void Worker::on_timer(std::uint32_t tag, Time now) noexcept {
  if (tag / kTags != iteration_) return;
  switch (static_cast<Tag>(tag % kTags)) {
    case kGradientsReady:
      take_ready(now);
      break;
    case kJobStarts:
      begin_job(now);
      break;
    case kPolicyWakes:
      hand_out(now);
      break;
    case kTags:
      break;
  }
}

/// The first gradients make the burst due; those that follow leave behind it.
void Worker::take_ready(Time now) noexcept {
  const auto& pieces = job_.pieces();
  while (next_piece_ < pieces.size() && job_.ready_at(plan_, next_piece_) <= now) {
    const GradientPiece& piece = pieces[next_piece_++];
    policy_->on_ready(piece, next_piece_ == pieces.size(), now);
  }
  if (next_piece_ < pieces.size()) set_timer(kGradientsReady, job_.ready_at(plan_, next_piece_));
  if (released_) return hand_out(now);
  if (!ready_) {
    ready_ = true;
    record().due_ns = now.time_since_epoch().count();
    announcer_.on_ready(now);
  }
  release_if_ready(now);
}

BurstPlace Worker::next_place(std::uint32_t target) noexcept {
  return job_.exchange().next_place(index_, target);
}

FlowKey Worker::flow(std::uint32_t target) const noexcept {
  return job_.exchange().flow(index_, target);
}

void Worker::release_if_ready(Time now) noexcept {
  if (!ready_ || released_ || announcer_.holds(now)) return;
  released_ = true;
  push(now);
}

void Worker::push(Time now) noexcept {
  record().released_ns = now.time_since_epoch().count();
  announcer_.on_released();
  if (job_.is_ring()) return job_.ring_member(index_).on_released(now);
  job_.exchange().begin_push(job_.push_ledger(index_, iteration_, now), BurstTime::kCompute, now);
  hand_out(now);
}

void Worker::hand_out(Time now) noexcept {
  Exchange& exchange = job_.exchange();
  while (const auto segment = policy_->next(now)) {
    exchange.hand_over({index_, segment->target, BurstDirection::kPush},
                       job_.part_of(segment->piece), segment->bytes, now);
  }
  if (const Time wake = policy_->wake_at(); wake != kNever && wake != policy_wakes_at_) {
    policy_wakes_at_ = wake;
    set_timer(kPolicyWakes, wake);
  }
  if (next_piece_ < job_.pieces().size()) return;
  for (std::uint32_t t = 0; t < job_.targets(); ++t)
    exchange.end({index_, t, BurstDirection::kPush}, now);
}

void Worker::on_acknowledged(std::uint32_t server, std::uint64_t bytes, Time now) noexcept {
  if (!policy_->needs_acknowledgments()) return;
  policy_->on_acknowledged(server, bytes, now);
  if (released_) hand_out(now);
}

void Worker::on_piece_pulled(std::uint32_t piece, Time now) noexcept {
  if (forward_) forward_->on_piece(job_.pieces()[piece].tensor, now);
}

void Worker::on_pulled(std::uint32_t server, const BurstArrival& arrival, Time now) noexcept {
  job_.on_pull_shard(index_, server, iteration_, arrival, now);
  if (--pulls_missing_ == 0) end_iteration(now);
}

void Worker::on_barrier(std::uint32_t iteration, Time now) noexcept {
  assert(iteration == iteration_);
  if (iteration == iteration_) end_iteration(now);
}

void Worker::end_iteration(Time now) noexcept {
  job_.exchange().end_iteration(index_);
  job_.on_iteration_end(index_, iteration_, forward_ ? forward_->first() : now, now);
  note_nic(job_.records().iteration(index_, iteration_));
  begin_iteration(iteration_ + 1, now);
}

}  // namespace outrider
