// A job and its exchange: what its lanes carry, and who hears what has come.
#include <algorithm>

#include "common/net/burst_option.h"
#include "common/net/headers.h"
#include "trafficgen/policy/make_send_policy.h"
#include "trafficgen/workload/exchange/make_exchange.h"
#include "trafficgen/workload/job.h"
#include "trafficgen/workload/ring_member.h"
#include "trafficgen/workload/server.h"
#include "trafficgen/workload/worker.h"

namespace outrider {

/// In a ring a part of a burst is a step: what is reduced are gradients, what is gathered are
/// their sums, as good as parameters.
ExchangeSetup Job::exchange_setup() const {
  ExchangeSetup e{.job = setup_.id,
                  .seed = setup_.seed,
                  .tcp = setup_.tcp,
                  .mtu_bytes = setup_.workers.front()->mtu_bytes(),
                  .port = setup_.config.tcp_port,
                  .targets = targets_,
                  .workers = setup_.workers,
                  .parts_told = by_tensor() || is_ring(),
                  .first_owner = setup_.first_owner,
                  .nic_classes = setup_.nic_classes};
  for (const Host* h : setup_.workers) e.mtu_bytes = std::min(e.mtu_bytes, h->mtu_bytes());
  for (const Host* h : setup_.servers) e.mtu_bytes = std::min(e.mtu_bytes, h->mtu_bytes());
  e.tcp.control.mss_bytes = e.mtu_bytes - kIpAndTcpBytes - kBurstOptionBytes;
  for (std::uint32_t w = 0; w < setup_.workers.size(); ++w) {
    for (std::uint32_t t = 0; t < targets_; ++t) {
      e.ends.push_back(&target(w, t));
      auto& pushes = e.pushes.emplace_back();
      auto& pulls = e.pulls.emplace_back();
      if (is_ring()) {
        const RingSchedule ring = ring_schedule();
        for (std::uint32_t k = 0; k < ring.steps(); ++k)
          pushes.push_back(
              {.bytes = ring.step_bytes(w, k), .parameters = k >= ring.first_gather_step()});
        continue;
      }
      for (const std::uint32_t piece : pieces_of_[t]) {
        const GradientPiece& p = pieces_[piece];
        pushes.push_back({.bytes = p.bytes, .layer = p.tensor});
        pulls.push_back({.bytes = p.bytes, .layer = p.tensor, .parameters = true});
      }
    }
  }
  if (is_ring()) return e;
  const JobConfig& c = setup_.config;
  e.pushes_acknowledged =
      make_send_policy(c.send_policy, send_policy(), targets_, pieces_)->needs_acknowledgments();
  e.pulls_acknowledged =
      by_tensor() &&
      make_answer_policy(c.send_policy, c.policy, pieces_.size())->needs_acknowledgments();
  return e;
}

void Job::make_exchange() {
  exchange_ = outrider::make_exchange(exchange_setup(), setup_.mlt, records_, *this);
}

void Job::on_part(const Lane& lane, std::uint32_t part, Time now) noexcept {
  if (is_ring()) return ring_[ring_schedule().right_of(lane.worker)]->on_step(part, now);
  if (!by_tensor()) return;
  const std::uint32_t piece = pieces_of_[lane.target][part];
  if (lane.direction == BurstDirection::kPush) servers_[lane.target]->on_piece(piece, now);
  else workers_[lane.worker]->on_piece_pulled(piece, now);
}

void Job::on_burst(const Lane& lane, const BurstArrival& arrival, Time now) noexcept {
  if (is_ring()) ring_[ring_schedule().right_of(lane.worker)]->on_all_received(arrival, now);
  else if (lane.direction == BurstDirection::kPush)
    servers_[lane.target]->on_pushed(lane.worker, arrival, now);
  else workers_[lane.worker]->on_pulled(lane.target, arrival, now);
}

void Job::on_acknowledged(const Lane& lane, std::uint64_t bytes, Time now) noexcept {
  if (lane.direction == BurstDirection::kPush)
    workers_[lane.worker]->on_acknowledged(lane.target, bytes, now);
  else servers_[lane.target]->on_acknowledged(lane.worker, bytes, now);
}

void Job::on_idle(const Lane& lane, Time now) noexcept {
  if (is_ring()) ring_[lane.worker]->on_all_sent(now);
}

}  // namespace outrider
