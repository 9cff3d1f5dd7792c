#include "trafficgen/workload/collective/scheduled/scheduled_collective.h"

#include <algorithm>
#include <cassert>

#include "trafficgen/workload/exchange/job_records.h"

namespace outrider::tg {
namespace {

/// Bounds the records of steps, of 40 bytes each; later ones are not kept.
constexpr std::uint64_t kMostStepRecords = 1ULL << 20;

std::uint64_t steps_in(const MessageTable& table) {
  std::uint64_t steps = 0;
  for (std::uint32_t i = 0; i < table.size(); ++i) steps += table.row(i).step == kNoStep ? 0 : 1;
  return steps;
}

}  // namespace

ScheduledCollective::ScheduledCollective(const CollectiveSchedule& schedule,
                                         const CollectiveSetup& setup, JobRecords& records,
                                         Owner& owner)
    : table_(schedule),
      workers_(setup.workers),
      records_(records),
      owner_(owner),
      progress_(table_),
      arriving_(setup.workers.size() * table_.most_targets(), 0),
      waits_(setup.workers.size(), false),
      job_(setup.job) {
  assert(workers_.size() == table_.ranks());
  const std::uint64_t steps = steps_in(table_);
  if (steps == 0) return;
  busy_until_.resize(workers_.size());
  begun_at_.resize(table_.size());
  steps_.reserve(std::min(steps * setup.iterations, kMostStepRecords));
}

/// Complete sums count as parameters, everything else as gradients.
void ScheduledCollective::plan(ExchangeSetup& setup) const {
  setup.targets = table_.most_targets();
  setup.parts_told = true;
  for (std::uint32_t w = 0; w < workers_.size(); ++w) {
    for (std::uint32_t t = 0; t < setup.targets; ++t) {
      setup.ends.push_back(t < table_.targets_of(w) ? workers_[table_.peer(w, t)] : nullptr);
      setup.pulls.emplace_back();
      auto& pushes = setup.pushes.emplace_back();
      for (const std::uint32_t message : table_.on_lane(w, t))
        pushes.push_back(
            {.bytes = table_.row(message).bytes, .parameters = table_.row(message).sums});
    }
  }
}

std::uint64_t ScheduledCollective::push_bytes(std::uint32_t worker,
                                              std::uint32_t target) const noexcept {
  std::uint64_t bytes = 0;
  for (const std::uint32_t message : table_.on_lane(worker, target))
    bytes += table_.row(message).bytes;
  return bytes;
}

bool ScheduledCollective::may_begin(std::uint32_t worker) const noexcept {
  for (std::uint32_t w = 0; w < workers_.size() && !busy_until_.empty(); ++w)
    if (progress_.iteration(w) < progress_.iteration(worker)) return false;
  for (std::uint32_t t = 0; t < table_.targets_of(worker); ++t)
    if (!exchange_->idle({worker, t, BurstDirection::kPush})) return false;
  return true;
}

/// Our messages of the last iteration may still be in flight, because nothing that we waited for
/// needed the last ones. A stream queues behind them; a flow without order carries one burst at a
/// time.
void ScheduledCollective::on_released(std::uint32_t worker, Time now) noexcept {
  if (may_begin(worker)) begin_burst(worker, now);
  else waits_[worker] = true;
}

void ScheduledCollective::on_idle(const Lane& lane, Time now) noexcept {
  begin_if_waiting(lane.worker, now);
}

void ScheduledCollective::begin_if_waiting(std::uint32_t worker, Time now) noexcept {
  if (!waits_[worker] || !may_begin(worker)) return;
  waits_[worker] = false;
  begin_burst(worker, now);
}

void ScheduledCollective::begin_burst(std::uint32_t worker, Time now) noexcept {
  const BurstRecord& push =
      records_.burst(worker, progress_.iteration(worker), BurstDirection::kPush);
  exchange_->begin_push(released_ledger(push, now), BurstTime::kOthers, now);
  if (!begun_at_.empty())
    for (const std::uint32_t message : table_.sent_by(worker)) begun_at_[message] = now;
  progress_.on_released(worker, [&](std::uint32_t message) { send(message, now); });
  end_if_done(worker, now);
}

void ScheduledCollective::send(std::uint32_t message, Time now) noexcept {
  const MessageTable::Row& row = table_.row(message);
  if (row.works()) return work(message, now);
  const Lane lane{row.from, row.target, BurstDirection::kPush};
  exchange_->hand_over(lane, row.part, row.bytes, now);
}

/// Always by the timer, so that what follows from it is not done within the events of an exchange.
void ScheduledCollective::work(std::uint32_t message, Time now) noexcept {
  const MessageTable::Row& row = table_.row(message);
  Time& busy_until = busy_until_[row.from];
  if (row.takes > Duration::zero()) busy_until = std::max(busy_until, now) + row.takes;
  workers_[row.from]->set_timer(*this, message, row.takes > Duration::zero() ? busy_until : now);
}

/// A step of computing begins when its worker is free for it, another one when all before it have
/// ended.
void ScheduledCollective::on_timer(std::uint32_t message, Time now) noexcept {
  const MessageTable::Row& row = table_.row(message);
  const std::uint32_t iteration = progress_.iteration(row.from);
  for (const std::uint32_t next : table_.wait_for(message))
    begun_at_[next] = std::max(begun_at_[next], now);
  if (row.step != kNoStep && steps_.size() < steps_.capacity()) {
    const Time begin = row.takes > Duration::zero() ? now - row.takes : begun_at_[message];
    steps_.push_back({.job = job_,
                      .worker = static_cast<std::uint16_t>(row.from),
                      .iteration = iteration,
                      .step = row.step,
                      .begin_ns = begin.time_since_epoch().count(),
                      .end_ns = now.time_since_epoch().count()});
  }
  progress_.on_received(message, iteration, [&](std::uint32_t next) { send(next, now); });
  end_if_done(row.from, now);
}

/// The sender may have waited for this to send its last message.
void ScheduledCollective::on_part(const Lane& lane, std::uint32_t part, Time now) noexcept {
  progress_.on_received(table_.on_lane(lane.worker, lane.target)[part], arriving(lane),
                        [&](std::uint32_t next) { send(next, now); });
  end_if_done(lane.worker, now);
}

/// The last message that a worker receives completes a burst: before, it is not done.
void ScheduledCollective::on_burst(const Lane& lane, const BurstArrival& arrival,
                                   Time now) noexcept {
  // Missing bytes of a sum belong to no single gradient, so learners are not told about them.
  owner_.on_pushed(lane, arriving(lane)++, {.bytes = arrival.bytes}, now);
  end_if_done(table_.peer(lane.worker, lane.target), now);
}

void ScheduledCollective::end_if_done(std::uint32_t worker, Time now) noexcept {
  if (!progress_.done(worker)) return;
  const std::uint32_t iteration = progress_.iteration(worker);
  progress_.next(worker);
  owner_.on_done(worker, iteration, now);
  if (busy_until_.empty()) return;
  for (std::uint32_t w = 0; w < workers_.size(); ++w) begin_if_waiting(w, now);
}

}  // namespace outrider::tg
