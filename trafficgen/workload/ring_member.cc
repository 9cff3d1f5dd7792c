#include "trafficgen/workload/ring_member.h"

#include "trafficgen/workload/worker.h"

namespace outrider {

RingMember::RingMember(Job& job, std::uint32_t index, const RingSchedule& schedule)
    : job_(job),
      index_(index),
      schedule_(schedule),
      left_(schedule.left_of(index)),
      progress_(schedule.steps()) {}

void RingMember::on_step(std::uint32_t step, Time now) noexcept {
  progress_.on_received(step, [&](std::uint32_t next) { send(next, now); });
}

void RingMember::on_all_received(const BurstArrival& arrival, Time now) noexcept {
  // What is missing of a chunk is of no one gradient: learners are not told.
  job_.on_push_shard(left_, 0, iteration_, {.bytes = arrival.bytes}, now);
  if (!progress_.done()) return;  // cannot be: the last step needs our own chunks
  progress_.begin();
  job_.worker(index_).on_barrier(iteration_++, now);
}

/// Our steps of the last iteration may still be on their way: nothing that we waited for needed
/// the last ones. A stream queues behind them; a flow without order has one burst at a time.
void RingMember::on_released(Time now) noexcept {
  if (job_.exchange().idle({index_, 0, BurstDirection::kPush})) begin_burst(now);
  else waits_for_last_burst_ = true;
}

void RingMember::on_all_sent(Time now) noexcept {
  if (!waits_for_last_burst_) return;
  waits_for_last_burst_ = false;
  begin_burst(now);
}

void RingMember::begin_burst(Time now) noexcept {
  job_.exchange().begin_push(job_.push_ledger(index_, iteration_, now), BurstTime::kOthers, now);
  progress_.on_released([&](std::uint32_t step) { send(step, now); });
}

void RingMember::send(std::uint32_t step, Time now) noexcept {
  job_.exchange().hand_over({index_, 0, BurstDirection::kPush}, step,
                            schedule_.step_bytes(index_, step), now);
}

}  // namespace outrider
