#include "trafficgen/background/roce_transfer.h"

#include <algorithm>
#include <utility>

#include "trafficgen/roce/queue_pair_ends.h"

namespace outrider::tg {

namespace {

constexpr std::uint32_t kOpenNext = 0, kLookAtProgress = 1;  // timer tags
constexpr std::uint32_t kRequestsAtOnce = 2;  // one transfer at a time is handed over

}  // namespace

RoceTransfer::RoceTransfer(const Setup& setup, GoodputSeries& goodput)
    : setup_(setup), goodput_(goodput), attempts_(setup.config.count) {
  make_ends();
}

void RoceTransfer::make_ends() {
  const auto add = [this](std::optional<End>& end, Host& host, QueuePair::Setup setup) {
    setup.requests = kRequestsAtOnce;
    end.emplace(*this, setup);
    host.add_endpoint(end->pair, 0, setup_.priority);
  };
  if (setup_.from != nullptr && setup_.to != nullptr) {
    const std::uint32_t mtu =
        std::min(setup_.from->setup().mtu_bytes, setup_.to->setup().mtu_bytes);
    const QueuePairEnds ends = make_queue_pair_ends(*setup_.from, *setup_.to, mtu, setup_.seed);
    add(sender_, *setup_.from, ends.near);
    add(receiver_, *setup_.to, ends.far);
    return;
  }
  const QueuePairNumbers& numbers = setup_.config.queue_pair;
  if (setup_.from != nullptr)
    add(sender_, *setup_.from, queue_pair_end(*setup_.from, setup_.to_address, numbers));
  else add(receiver_, *setup_.to, queue_pair_end(*setup_.to, setup_.from_address, numbers));
}

void RoceTransfer::schedule() {
  progress_at_ = Time{} + setup_.config.start;
  own_host().set_timer(*this, kLookAtProgress, progress_at_);
  if (sender_) own_host().set_timer(*this, kOpenNext, progress_at_);
}

void RoceTransfer::on_timer(std::uint32_t tag, Time now) noexcept {
  if (tag == kLookAtProgress) return watch(now);
  if (finished()) return;  // given up between the last transfer's end and this
  open(now);
  sender_->pair.requester().append(setup_.config.bytes, static_cast<std::uint32_t>(ended_), now);
  setup_.from->changed(sender_->pair, now);
}

/// Begins the transfer whose turn it is.
void RoceTransfer::open(Time now) noexcept {
  Attempt& attempt = attempts_[ended_];
  attempt.outcome = Outcome::kRunning;
  attempt.opened = progress_at_ = now;
  attempt.before = counts();
}

/// Looks at what has arrived since, which may end several transfers from outside.
void RoceTransfer::look(Time now) noexcept {
  if (receiver_) {
    const std::uint64_t total = receiver_->pair.responder().delivered_bytes();
    goodput_.add(TrafficClass::kBackground, total - std::exchange(delivered_, total), now);
  }
  const std::uint64_t bytes = setup_.config.bytes;
  while (!finished()) {
    if (!sender_ && attempts_[ended_].outcome == Outcome::kWaiting && progress() > ended_ * bytes)
      open(now);
    // What is sent here has ended when its acknowledgment came: the next one may leave then.
    const std::uint64_t done =
        sender_ ? sender_->pair.requester().requests().acknowledged_bytes() : progress();
    if (attempts_[ended_].outcome != Outcome::kRunning || done < (ended_ + 1) * bytes) return;
    end(Outcome::kCompleted, now);
  }
}

void RoceTransfer::end(Outcome outcome, Time now) noexcept {
  Attempt& attempt = attempts_[ended_];
  attempt.outcome = outcome;
  attempt.ended = now;
  attempt.after = counts();
  ++ended_;
  if (sender_ && outcome == Outcome::kCompleted && !finished())
    setup_.from->set_timer(*this, kOpenNext, now);
}

/// Ends the transfer under way and those after it: the connection is lost to them as well.
void RoceTransfer::fail(Outcome outcome, Time now) noexcept {
  while (!finished()) {
    if (attempts_[ended_].outcome == Outcome::kWaiting) open(now);
    end(outcome, now);
  }
}

RoceTransfer::Outcome RoceTransfer::outcome_of(GaveUp why) noexcept {
  switch (why) {
    case GaveUp::kNotReady:
      return Outcome::kNotReady;
    case GaveUp::kInvalidRequest:
      return Outcome::kInvalidRequest;
    case GaveUp::kRemoteAccess:
      return Outcome::kRemoteAccess;
    case GaveUp::kRemoteOperation:
      return Outcome::kRemoteOperation;
    default:
      return Outcome::kReset;
  }
}

/// Looks for missing progress, a quarter of the timeout late at most.
void RoceTransfer::watch(Time now) noexcept {
  if (finished()) return;
  if (std::exchange(watched_, progress()) != progress()) progress_at_ = now;
  if (now - progress_at_ >= setup_.config.timeout) {
    const bool not_ready = sender_ && sender_->pair.requester().state().awaits_receiver;
    return fail(not_ready ? Outcome::kNotReady : Outcome::kTimedOut, now);
  }
  own_host().set_timer(*this, kLookAtProgress,
                       now + std::max(setup_.config.timeout / 4, Duration{1}));
}

std::uint64_t RoceTransfer::progress() const noexcept {
  return receiver_ ? receiver_->pair.responder().delivered_bytes()
                   : sender_->pair.requester().requests().acknowledged_bytes();
}

RoceTransfer::Counts RoceTransfer::counts() const noexcept {
  return {(sender_ ? sender_ : receiver_)->pair.counters(),
          (receiver_ ? receiver_ : sender_)->pair.counters()};
}

RoceCounters RoceTransfer::roce() const {
  RoceCounters sum;
  for (const auto* end : {&sender_, &receiver_})
    if (*end) sum += (*end)->pair.counters();
  sum.queue_pairs = 1;
  return sum;
}

void RoceTransfer::fill(std::vector<TransferReport>& reports) const {
  for (std::uint32_t i = 0; i < attempts_.size(); ++i) {
    const Attempt& a = attempts_[i];
    const std::uint64_t bytes = setup_.config.bytes, before = i * bytes;
    TransferReport r{.name = setup_.config.name, .index = i, .outcome = name_of(a.outcome)};
    r.bytes = bytes;
    r.delivered = std::clamp(progress(), before, before + bytes) - before;
    if (a.outcome != Outcome::kWaiting)
      r.opened_ns = r.established_ns = a.opened.time_since_epoch().count();
    if (a.outcome > Outcome::kRunning) r.ended_ns = a.ended.time_since_epoch().count();
    const Counts after = a.outcome == Outcome::kRunning ? counts() : a.after;
    const auto grew = [&](std::uint64_t RoceCounters::*count, RoceCounters Counts::*end) {
      return after.*end.*count - a.before.*end.*count;
    };
    r.retransmitted = grew(&RoceCounters::retransmitted, &Counts::sending);
    r.rtos_data = grew(&RoceCounters::timeouts, &Counts::sending);
    r.fast_recoveries = grew(&RoceCounters::recoveries, &Counts::sending);
    r.cnps_received = grew(&RoceCounters::cnps_received, &Counts::sending);
    r.ce_received = grew(&RoceCounters::marked, &Counts::receiving);
    r.out_of_order_received = grew(&RoceCounters::out_of_order, &Counts::receiving);
    r.duplicates_received = grew(&RoceCounters::duplicate, &Counts::receiving);
    reports.push_back(std::move(r));
  }
}

}  // namespace outrider::tg
