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
                               context.setup.pieces)),
      message_(context.setup.pieces.size()),
      last_message_(context.setup.servers.size(), 0) {}

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
  while (!busy_) {
    const auto segment = policy_->next(now);
    if (!segment) break;
    if (context_.setup.message.worker_time > Duration::zero()) prepare(*segment, now);
    else leave(*segment, now);
  }
  if (const Time wake = policy_->wake_at(); wake != kNever && wake != wakes_at_) {
    wakes_at_ = wake;
    set_timer(kAskAgain, wake);
  }
  if (!all_ready_ || busy_) return;
  for (std::uint32_t s = 0; s < context_.setup.servers.size(); ++s)
    context_.exchange->end({worker_, s, BurstDirection::kPush}, now);
}

void Pusher::on_timer(std::uint32_t tag, Time now) noexcept {
  if (tag / kTags != iteration_) return;
  if (tag % kTags == kMessageLeaves) {
    while (!message_.empty()) leave(message_.pop(), now);
    busy_ = false;
  }
  hand_out(now);
}

/// Adds the segment to the message, and occupies the thread when the message is complete.
void Pusher::prepare(const PushSegment& segment, Time now) noexcept {
  message_.push(segment);
  if (begins_message(segment)) message_time_ += context_.setup.message.worker_time;
  if (segment.joined) return;
  busy_ = true;
  if (context_.setup.message.blocks) context_.owner.on_blocked(worker_, now, now + message_time_);
  set_timer(kMessageLeaves, now + message_time_);
  message_time_ = {};
}

void Pusher::leave(const PushSegment& segment, Time now) noexcept {
  if (context_.setup.message.worker_time == Duration::zero()) (void)begins_message(segment);
  context_.exchange->hand_over({worker_, segment.target, BurstDirection::kPush},
                               context_.part_of[segment.piece], segment.bytes, now);
}

/// Notes, for the server, whether the segment is the first of its message to that server.
bool Pusher::begins_message(const PushSegment& segment) noexcept {
  if (!continues_) ++messages_;
  continues_ = segment.joined;
  const bool begins = last_message_[segment.target] != messages_;
  last_message_[segment.target] = messages_;
  context_.begins_message[worker_][segment.piece] = begins ? 1 : 0;
  return begins;
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
