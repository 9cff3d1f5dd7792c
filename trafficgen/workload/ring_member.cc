#include "trafficgen/workload/ring_member.h"

#include "common/net/burst_option.h"
#include "trafficgen/workload/worker.h"

namespace outrider {

RingMember::RingMember(Job& job, std::uint32_t index, Host& host, const RingSchedule& schedule)
    : job_(job),
      index_(index),
      host_(host),
      schedule_(schedule),
      left_(schedule.left_of(index)),
      progress_(schedule.steps()) {}

void RingMember::start() { host_.listen(job_.setup().config.tcp_port, *this); }

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
    progress_.on_received();
    pass_on(now);
    if (progress_.received() < schedule_.steps()) continue;
    job_.on_push_shard(left_, 0, iteration_, now);
    if (!progress_.done()) return;  // cannot be: the last step needs our own chunks
    progress_.begin();
    job_.worker(index_).on_barrier(iteration_++, now);
    if (c.delivered_bytes() == taken_) return;
  }
}

void RingMember::on_released(Time now) noexcept {
  progress_.on_released();
  pass_on(now);
}

void RingMember::pass_on(Time now) noexcept {
  while (progress_.may_send()) {
    const std::uint64_t bytes = schedule_.step_bytes(index_, progress_.next_step());
    progress_.on_sent();
    job_.worker(index_).send_chunk(bytes, now);
  }
}

}  // namespace outrider
