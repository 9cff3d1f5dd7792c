#include "trafficgen/workload/collective/parameter_server/pusher.h"

#include "trafficgen/policy/make_send_policy.h"
#include "trafficgen/workload/exchange/job_records.h"

namespace outrider::tg {

Pusher::Pusher(PsContext& context, std::uint32_t worker, Host& host)
    : context_(context),
      worker_(worker),
      host_(host),
      policy_(make_send_policy(context.setup.send_policy, context.setup.push_policy,
                               static_cast<std::uint32_t>(context.setup.servers.size()),
                               context.setup.pieces)) {}

void Pusher::begin(std::uint32_t iteration, Time now) noexcept {
  iteration_ = iteration;
  policy_->begin(now);
  wakes_at_ = kNever;
  all_ready_ = released_ = false;
  pulls_missing_ = static_cast<std::uint32_t>(context_.setup.servers.size());
}

void Pusher::on_ready(const GradientPiece& piece, bool last, Time now) noexcept {
  policy_->on_ready(piece, last, now);
  all_ready_ = last;
}

void Pusher::on_released(Time now) noexcept {
  released_ = true;
  const BurstRecord& push = context_.records.burst(worker_, iteration_, BurstDirection::kPush);
  context_.exchange->begin_push(released_ledger(push, now), BurstTime::kCompute, now);
  hand_out(now);
}

void Pusher::hand_out(Time now) noexcept {
  Exchange& exchange = *context_.exchange;
  while (const auto segment = policy_->next(now))
    exchange.hand_over({worker_, segment->target, BurstDirection::kPush},
                       context_.part_of[segment->piece], segment->bytes, now);
  if (const Time wake = policy_->wake_at(); wake != kNever && wake != wakes_at_) {
    wakes_at_ = wake;
    host_.set_timer(*this, iteration_, wake);
  }
  if (!all_ready_) return;
  for (std::uint32_t s = 0; s < context_.setup.servers.size(); ++s)
    exchange.end({worker_, s, BurstDirection::kPush}, now);
}

void Pusher::on_acknowledged(std::uint32_t server, std::uint64_t bytes, Time now) noexcept {
  policy_->on_acknowledged(server, bytes, now);
  if (released_) hand_out(now);
}

void Pusher::on_pulled(const Lane& lane, const BurstArrival& arrival, Time now) noexcept {
  context_.owner.on_pulled(lane, iteration_, arrival, now);
  if (--pulls_missing_ == 0) context_.owner.on_done(worker_, iteration_, now);
}

}  // namespace outrider::tg
