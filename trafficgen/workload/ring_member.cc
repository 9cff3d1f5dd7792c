#include "trafficgen/workload/ring_member.h"

#include "common/net/burst_option.h"
#include "trafficgen/workload/mlt_exchange.h"
#include "trafficgen/workload/worker.h"

namespace outrider {

RingMember::RingMember(Job& job, std::uint32_t index, Host& host, const RingSchedule& schedule)
    : job_(job),
      index_(index),
      host_(host),
      schedule_(schedule),
      left_(schedule.left_of(index)),
      progress_(schedule.steps()) {}

void RingMember::start() {
  if (job_.mlt() == nullptr) host_.listen(job_.setup().config.tcp_port, *this);
}

Acceptor::Offer RingMember::accept(const FlowKey& flow) noexcept {
  if (flow.source_address != job_.setup().workers[left_]->address()) return {};
  return {.config = &job_.tcp(),
          .listener = this,
          .option_bytes = kBurstOptionBytes,
          .owner = job_.owner(left_)};
}

void RingMember::on_accepted(TcpConnection& connection) noexcept {
  connection_ = &connection;
  taken_ = 0;
  job_.push_flow(left_, 0).on_new_receiver();
}

void RingMember::on_closed(TcpConnection& c, Time) noexcept {
  if (&c == connection_) connection_ = nullptr;
}

void RingMember::on_delivered(TcpConnection& c, Time now) noexcept {
  if (&c != connection_) return;
  job_.push_flow(left_, 0).on_delivered(c.delivered_bytes(), now);
  while (progress_.received() < schedule_.steps()) {
    const std::uint64_t bytes = schedule_.step_bytes(left_, progress_.received());
    if (c.delivered_bytes() - taken_ < bytes) return;
    taken_ += bytes;
    take(progress_.received(), now);
  }
}

void RingMember::take(std::uint32_t step, Time now) noexcept {
  progress_.on_received(step, [&](std::uint32_t next) { send(next, now); });
  if (progress_.received() < schedule_.steps()) return;
  job_.on_push_shard(left_, 0, iteration_, now);
  if (!progress_.done()) return;  // cannot be: the last step needs our own chunks
  progress_.begin();
  job_.worker(index_).on_barrier(iteration_++, now);
}

/// Our steps of the last iteration may still be on their way: nothing that we waited for needed
/// the last ones. A connection queues behind them; a flow without order has one burst at a time.
void RingMember::on_released(Time now) noexcept {
  const MltExchange* mlt = job_.mlt();
  if (mlt != nullptr && mlt->sending(index_)) waits_for_last_burst_ = true;
  else begin_burst(now);
}

void RingMember::on_all_sent(Time now) noexcept {
  if (!waits_for_last_burst_) return;
  waits_for_last_burst_ = false;
  begin_burst(now);
}

void RingMember::begin_burst(Time now) noexcept {
  if (MltExchange* mlt = job_.mlt())
    mlt->begin_push(job_.burst(index_, iteration_, BurstDirection::kPush).identity, now);
  progress_.on_released([&](std::uint32_t step) { send(step, now); });
}

void RingMember::send(std::uint32_t step, Time now) noexcept {
  if (MltExchange* mlt = job_.mlt()) return mlt->push_step(index_, step, now);
  job_.worker(index_).send_chunk(schedule_.step_bytes(index_, step), now);
}

}  // namespace outrider
