#include "trafficgen/workload/job/worker.h"

#include <cassert>

namespace outrider::tg {

namespace {

/// Returns the bytes that a worker sends in an iteration, over all targets.
std::uint64_t push_bytes(Job& job, std::uint32_t worker) noexcept {
  std::uint64_t bytes = 0;
  const std::uint32_t targets = job.lanes().targets_of(worker);
  for (std::uint32_t t = 0; t < targets; ++t) bytes += job.collective().push_bytes(worker, t);
  return bytes;
}

BurstAnnouncer::Setup announcer_setup(Job& job, std::uint32_t worker) {
  const JobConfig& config = job.setup().config;
  BurstAnnouncer::Setup setup{
      .config = config.announce, .worker = worker, .tcp_port = config.tcp_port};
  const std::uint32_t targets = job.lanes().targets_of(worker);
  for (std::uint32_t t = 0; t < targets; ++t)
    setup.targets.push_back({&job.lanes().end(worker, t), job.collective().push_bytes(worker, t)});
  if (job.setup().signal_key) setup.key = &*job.setup().signal_key;
  setup.dscp = dscp_of_bursts(job.setup());
  return setup;
}

}  // namespace

Worker::Worker(Job& job, std::uint32_t index, Host& host)
    : job_(job),
      index_(index),
      host_(host),
      announcer_(announcer_setup(job, index), job.faults(), host, *this) {
  if (planner().by_tensor()) forward_.emplace(planner().forward_pass());
}

BurstRecord& Worker::burst(std::uint32_t iteration) noexcept {
  return job_.records().burst(index_, iteration, BurstDirection::kPush);
}

void Worker::start(Time now) {
  if (planner().start_at() > now) return set_timer(kJobStarts, planner().start_at());
  begin_job(now);
}

void Worker::begin_job(Time now) noexcept {
  job_.exchange().open(index_, now);
  begin_iteration(0, now);
  announcer_.start(now);
}

/// By tensor, this is called when all parameters have arrived. The forward pass may have begun
/// before, with the parameters of the first layer; nothing on the wire depends on it until now.
void Worker::begin_iteration(std::uint32_t iteration, Time now) noexcept {
  const bool overlaps = forward_ && iteration > 0;
  const auto plan = job_.iterations().begin(index_, iteration, overlaps ? forward_->first() : now,
                                            overlaps ? &*forward_ : nullptr);
  if (!plan) return;
  if (forward_) forward_->begin();
  iteration_ = iteration;
  plan_ = *plan;
  next_piece_ = 0;
  blocked_ = {};
  job_.collective().begin(index_, iteration, now);
  ready_ = released_ = false;
  BurstRecord& r = record();
  r.identity = {job_.setup().id, static_cast<std::uint16_t>(index_), iteration,
                BurstDirection::kPush};
  r.bytes = push_bytes(job_, index_);
  job_.exchange().begin_iteration(index_, iteration);
  announcer_.begin(iteration, ready_at(0), now);
  set_timer(kGradientsReady, ready_at(0));
}

/// A timer carries its iteration, so that a timer of an earlier iteration is recognised as stale.
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
    case kTags:
      break;
  }
}

/// The first gradients make the burst due. Gradients that become ready later are sent after them.
void Worker::take_ready(Time now) noexcept {
  const auto& pieces = planner().pieces();
  while (next_piece_ < pieces.size() && ready_at(next_piece_) <= now) {
    const GradientPiece& piece = pieces[next_piece_++];
    job_.collective().on_ready(index_, piece, next_piece_ == pieces.size(), now);
  }
  if (next_piece_ < pieces.size()) set_timer(kGradientsReady, ready_at(next_piece_));
  if (released_) return job_.collective().more(index_, now);
  if (!ready_) {
    ready_ = true;
    record().due_ns = now.time_since_epoch().count();
    announcer_.on_ready(now);
  }
  release_if_ready(now);
}

/// The timer of the next gradient is not set anew: it finds that nothing is ready yet.
void Worker::on_blocked(Time from, Time to) noexcept {
  if (next_piece_ < planner().pieces().size()) {
    blocked_ += to - from;
    job_.records().iteration(index_, iteration_).ready_ns += (to - from).count();
  } else if (forward_) {
    forward_->on_blocked(from, to);
  }
}

BurstPlace Worker::next_place(std::uint32_t target) noexcept {
  return job_.exchange().next_place({index_, target, BurstDirection::kPush});
}

FlowKey Worker::flow(std::uint32_t target) const noexcept {
  return job_.exchange().flow({index_, target, BurstDirection::kPush});
}

void Worker::release_if_ready(Time now) noexcept {
  if (!ready_ || released_ || announcer_.holds(now)) return;
  released_ = true;
  record().released_ns = now.time_since_epoch().count();
  announcer_.on_released();
  job_.collective().on_released(index_, now);
}

void Worker::on_done(std::uint32_t iteration, Time now) noexcept {
  assert(iteration == iteration_);
  if (iteration == iteration_) end_iteration(now);
}

void Worker::end_iteration(Time now) noexcept {
  job_.exchange().end_iteration(index_);
  job_.iterations().end(index_, iteration_, forward_ ? forward_->first() : now, now);
  note_nic(job_.records().iteration(index_, iteration_));
  begin_iteration(iteration_ + 1, now);
}

}  // namespace outrider::tg
