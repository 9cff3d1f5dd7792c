#include "trafficgen/workload/collective/ring/ring.h"

#include <utility>

#include "trafficgen/workload/exchange/job_records.h"

namespace outrider::tg {

Ring::Ring(const CollectiveSetup& setup, JobRecords& records, Owner& owner)
    : schedule_(static_cast<std::uint32_t>(setup.workers.size()), setup.burst_bytes,
                setup.unit_bytes),
      workers_(setup.workers),
      records_(records),
      owner_(owner) {
  for (std::size_t w = 0; w < workers_.size(); ++w)
    members_.push_back({.progress = RingProgress(schedule_.steps())});
}

/// Steps that reduce carry gradients. Steps that gather carry their sums, which count as
/// parameters.
void Ring::plan(ExchangeSetup& setup) const {
  setup.targets = 1;
  setup.parts_told = true;
  for (std::uint32_t w = 0; w < workers_.size(); ++w) {
    setup.ends.push_back(workers_[schedule_.right_of(w)]);
    setup.pulls.emplace_back();
    auto& pushes = setup.pushes.emplace_back();
    for (std::uint32_t k = 0; k < schedule_.steps(); ++k)
      pushes.push_back(
          {.bytes = schedule_.step_bytes(w, k), .parameters = k >= schedule_.first_gather_step()});
  }
}

/// Our steps of the last iteration may still be in flight, because nothing that we waited for
/// needed the last ones. A stream queues behind them; a flow without order carries one burst at a
/// time.
void Ring::on_released(std::uint32_t worker, Time now) noexcept {
  if (exchange_->idle({worker, 0, BurstDirection::kPush})) begin_burst(worker, now);
  else members_[worker].waits_for_last_burst = true;
}

void Ring::on_idle(const Lane& lane, Time now) noexcept {
  if (std::exchange(members_[lane.worker].waits_for_last_burst, false))
    begin_burst(lane.worker, now);
}

void Ring::begin_burst(std::uint32_t worker, Time now) noexcept {
  Member& member = members_[worker];
  const BurstRecord& push = records_.burst(worker, member.iteration, BurstDirection::kPush);
  exchange_->begin_push(released_ledger(push, now), BurstTime::kOthers, now);
  member.progress.on_released([&](std::uint32_t step) { send(worker, step, now); });
}

void Ring::send(std::uint32_t worker, std::uint32_t step, Time now) noexcept {
  exchange_->hand_over({worker, 0, BurstDirection::kPush}, step, schedule_.step_bytes(worker, step),
                       now);
}

void Ring::on_part(const Lane& lane, std::uint32_t part, Time now) noexcept {
  const std::uint32_t worker = schedule_.right_of(lane.worker);
  members_[worker].progress.on_received(part, [&](std::uint32_t next) { send(worker, next, now); });
}

void Ring::on_burst(const Lane& lane, const BurstArrival& arrival, Time now) noexcept {
  const std::uint32_t worker = schedule_.right_of(lane.worker);
  Member& member = members_[worker];
  // Missing bytes of a chunk belong to no single gradient, so learners are not told about them.
  owner_.on_pushed(lane, member.iteration, {.bytes = arrival.bytes}, now);
  if (!member.progress.done()) return;  // never happens: the last step needs our own chunks
  member.progress.begin();
  owner_.on_done(worker, member.iteration++, now);
}

}  // namespace outrider::tg
