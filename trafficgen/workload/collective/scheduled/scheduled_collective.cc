#include "trafficgen/workload/collective/scheduled/scheduled_collective.h"

#include <cassert>

#include "trafficgen/workload/exchange/job_records.h"

namespace outrider::tg {

ScheduledCollective::ScheduledCollective(const CollectiveSchedule& schedule,
                                         const CollectiveSetup& setup, JobRecords& records,
                                         Owner& owner)
    : table_(schedule),
      workers_(setup.workers),
      records_(records),
      owner_(owner),
      progress_(table_),
      arriving_(setup.workers.size() * table_.most_targets(), 0),
      waits_(setup.workers.size(), false) {
  assert(workers_.size() == table_.ranks());
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

bool ScheduledCollective::idle(std::uint32_t worker) const noexcept {
  for (std::uint32_t t = 0; t < table_.targets_of(worker); ++t)
    if (!exchange_->idle({worker, t, BurstDirection::kPush})) return false;
  return true;
}

/// Our messages of the last iteration may still be in flight, because nothing that we waited for
/// needed the last ones. A stream queues behind them; a flow without order carries one burst at a
/// time.
void ScheduledCollective::on_released(std::uint32_t worker, Time now) noexcept {
  if (idle(worker)) begin_burst(worker, now);
  else waits_[worker] = true;
}

void ScheduledCollective::on_idle(const Lane& lane, Time now) noexcept {
  if (!waits_[lane.worker] || !idle(lane.worker)) return;
  waits_[lane.worker] = false;
  begin_burst(lane.worker, now);
}

void ScheduledCollective::begin_burst(std::uint32_t worker, Time now) noexcept {
  const BurstRecord& push =
      records_.burst(worker, progress_.iteration(worker), BurstDirection::kPush);
  exchange_->begin_push(released_ledger(push, now), BurstTime::kOthers, now);
  progress_.on_released(worker, [&](std::uint32_t message) { send(message, now); });
  end_if_done(worker, now);
}

void ScheduledCollective::send(std::uint32_t message, Time now) noexcept {
  const MessageTable::Row& row = table_.row(message);
  const Lane lane{row.from, row.target, BurstDirection::kPush};
  exchange_->hand_over(lane, row.part, row.bytes, now);
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
}

}  // namespace outrider::tg
