#include "trafficgen/workload/sync/round_robin.h"

namespace outrider::tg {

RoundRobin::RoundRobin(Owner& owner, Host& host, std::uint32_t workers, const Setup& setup)
    : owner_(owner), host_(host), gate_(workers, setup.gate) {
  if (setup.batch > 0) tuner_.emplace(setup.batch, setup.times);
}

void RoundRobin::on_pushed(std::uint32_t worker, Time now) noexcept {
  if (gate_.report(worker, now)) return owner_.admit(worker, Duration::zero(), now);
  take_turns(now);
}

void RoundRobin::on_done(std::uint32_t worker, Time now) noexcept {
  gate_.leave(worker);
  take_turns(now);
}

void RoundRobin::on_timer(std::uint32_t, Time now) noexcept {
  if (now >= wakes_at_) wakes_at_ = kNever;
  take_turns(now);
}

/// Several workers may go on at once if gaps are zero.
void RoundRobin::take_turns(Time now) noexcept {
  while (const auto turn = gate_.turn()) {
    if (turn->at > now) {
      if (turn->at >= wakes_at_) return;
      wakes_at_ = turn->at;
      return host_.set_timer(*this, 0, turn->at);
    }
    const Duration held = gate_.pass(turn->worker, now);
    if (tuner_) tuner_->on_held(turn->worker, held, gate_.period());
    owner_.admit(turn->worker, held, now);
  }
}

}  // namespace outrider::tg
