#include "trafficgen/workload/announce/burst_announcer.h"

#include <algorithm>

namespace outrider::tg {
namespace {

/// Returns a key of the same id whose tags are wrong.
SignalKey strange_key(SignalKey key) noexcept {
  for (std::uint8_t& byte : key.secret) byte = static_cast<std::uint8_t>(~byte);
  return key;
}

/// Bursts to several targets may have an announcer each and one record: the first START counts.
void note_start(BurstRecord& burst, Time now) noexcept {
  if (burst.start_sent_ns == kNotYet_ns) burst.start_sent_ns = now.time_since_epoch().count();
}

}  // namespace

BurstAnnouncer::BurstAnnouncer(const Setup& setup, const SignalFaults& faults, Host& host,
                               Client& client)
    : setup_(setup),
      faults_(faults),
      host_(host),
      client_(client),
      targets_(setup.targets.size()),
      lead_(setup.config.lead) {
  const auto take_signals = [&](Host& at) {
    if (setup.config.signal_form == SignalForm::kTos) at.signals().take_tos();
    else at.signals().take_at(setup.config.signal_port);
  };
  if (setup.key != nullptr && setup.config.faults.forged_tag == ForgedTag::kWrong)
    strange_key_ = strange_key(*setup.key);
  take_signals(host);
  for (const Target& target : setup.targets) take_signals(*target.host);
}

void BurstAnnouncer::start(Time now) noexcept {
  if (faults_.forges())
    set_timer(kForgeryDue, iteration_, now + faults_.forged_gap(setup_.worker, 0));
  if (faults_.replays())
    set_timer(kReplayDue, iteration_, now + faults_.replayed_gap(setup_.worker, 0));
}

void BurstAnnouncer::begin(std::uint32_t iteration, Time ready_at, Time now) noexcept {
  iteration_ = iteration;
  ready_at_ = ready_at;
  announced_ = answered_ = released_ = false;
  fault_ = faults_.of(setup_.worker, iteration);
  take_told_lead();
  if (setup_.config.lead_source != LeadSource::kOverlap) return;
  set_timer(kStartDue, iteration, std::max(now, ready_at - lead_ + fault_.shift));
}

/// Several servers may be behind several switches: the one that needs most time decides.
void BurstAnnouncer::take_told_lead() noexcept {
  if (!told_lead_ || !setup_.config.lead_limit) return;
  lead_ = std::clamp(*told_lead_, setup_.config.lead, *setup_.config.lead_limit);
  told_lead_.reset();
}

void BurstAnnouncer::on_ready(Time now) noexcept {
  if (setup_.config.lead_source != LeadSource::kWait) return;
  if (fault_.shift > Duration::zero()) set_timer(kStartDue, iteration_, now + fault_.shift);
  else announce(now);
}

/// With "overlap" a burst leaves when it is ready: a late START does not hold it.
bool BurstAnnouncer::holds(Time now) const noexcept {
  const LeadSource source = setup_.config.lead_source;
  if (source == LeadSource::kNone) return false;
  if (source == LeadSource::kOverlap && fault_.shift > Duration::zero()) return false;
  return !announced_ || !answered_ || now < lead_over_at_;
}

void BurstAnnouncer::on_released() noexcept {
  released_ = true;
  for (std::uint32_t t = 0; t < targets_.size(); ++t) targets_[t].pushed = client_.next_place(t);
}

/// A timer carries its iteration, so that a timer of an earlier iteration is recognised as stale.
/// Timers of late, copied, forged or replayed STARTs are used in any iteration.
void BurstAnnouncer::set_timer(Tag tag, std::uint32_t iteration, Time at) noexcept {
  host_.set_timer(*this, iteration * kTags + tag, at);
}

void BurstAnnouncer::on_timer(std::uint32_t tag, Time now) noexcept {
  const std::uint32_t iteration = tag / kTags;
  switch (static_cast<Tag>(tag % kTags)) {
    case kStartDue:  // a late START may find its burst gone, or even its iteration over
      if (iteration == iteration_ && !released_) announce(now);
      else announce_afterwards(iteration, now);
      break;
    case kLeadOver:
      if (iteration == iteration_) client_.on_hold_ended(now);
      break;
    case kAckTimeout:
      if (iteration == iteration_) on_timeout(now);
      break;
    case kRepeatDue:
      if (iteration == iteration_) on_repeat_due(now);
      break;
    case kCopyDue:
      on_copy_due(iteration, now);
      break;
    case kForgeryDue:
      forge(now);
      break;
    case kReplayDue:
      replay(now);
      break;
    case kTags:
      break;
  }
}

void BurstAnnouncer::on_timeout(Time now) noexcept {
  if (answered_) return;
  answered_ = true;
  client_.burst(iteration_).ack_timed_out = true;
  ++timeouts_;
  client_.on_hold_ended(now);
}

void BurstAnnouncer::on_signal_ack(const FlowKey& flow, std::optional<Duration> told_lead,
                                   Time now) noexcept {
  std::uint32_t target = 0;
  while (target < targets_.size() && client_.flow(target) != flow) ++target;
  if (target == targets_.size() || targets_[target].answered) return;  // late, or to a copy
  targets_[target].answered = true;
  host_.signals().forget_acks(flow);
  targets_[target].heard = {};
  if (told_lead) told_lead_ = std::max(told_lead_.value_or(*told_lead), *told_lead);
  if (--acks_missing_ > 0) return;
  client_.burst(iteration_).ack_received_ns = now.time_since_epoch().count();
  if (answered_) return;  // timed out before
  answered_ = true;
  client_.on_hold_ended(now);
}

/// Sends a START to every target, naming the first byte of the burst to it. The flow and initial
/// sequence number of a connection are known before it is opened.
void BurstAnnouncer::announce(Time now) noexcept {
  announced_ = true;
  acks_missing_ = 0;
  lead_over_at_ = now + lead_;
  BurstRecord& burst = client_.burst(iteration_);
  if (!fault_.lost) note_start(burst, now);
  // If the START is shifted, the predicted time is wrong, and the START carries that wrong time.
  const Time due_at =
      fault_.shift == Duration::zero() ? std::max(lead_over_at_, ready_at_) : lead_over_at_;
  for (std::uint32_t t = 0; t < targets_.size(); ++t) {
    State& target = targets_[t];
    const BurstPlace place = client_.next_place(t);
    target.answered = place.flow == FlowKey{};  // nobody there: no burst will come
    target.start = {};
    if (target.answered) continue;
    ++acks_missing_;
    if (target.heard != FlowKey{}) host_.signals().forget_acks(target.heard);  // never answered
    host_.signals().hear_acks(place.flow, *this, setup_.key);
    target.heard = place.flow;
    target.start = start_of(t, place, burst.identity, due_at);
    send_meant(target.start, fault_, now);
  }
  answered_ = acks_missing_ == 0;
  begin_copies(iteration_, fault_, now);
  set_timer(kLeadOver, iteration_, lead_over_at_);
  set_timer(kAckTimeout, iteration_, now + setup_.config.ack_timeout);
  repeats_ = 0;
  if (setup_.config.repeats > 0)
    set_timer(kRepeatDue, iteration_, now + setup_.config.repeat_after);
}

/// Sends the STARTs again that are not answered. That the answer is only late, because a switch
/// holds it, cannot be known here; a repeat changes nothing then.
void BurstAnnouncer::on_repeat_due(Time now) noexcept {
  if (answered_ || released_) return;
  for (const State& target : targets_) {
    if (target.answered) continue;
    ++counts_.repeated;
    if (faults_.loses_repeat(setup_.worker, iteration_, repeats_)) ++counts_.lost;
    else send_start(target.start, now);
  }
  ++repeats_;
  if (repeats_ == setup_.config.repeats) return;
  set_timer(kRepeatDue, iteration_, now + setup_.config.repeat_after * (1 << repeats_));
}

/// Sends a late START: the burst has left, and nobody waits for the answers any more.
void BurstAnnouncer::announce_afterwards(std::uint32_t iteration, Time now) noexcept {
  BurstRecord& burst = client_.burst(iteration);
  note_start(burst, now);
  const SignalFault fault = faults_.of(setup_.worker, iteration);
  for (std::uint32_t t = 0; t < targets_.size(); ++t) {
    State& target = targets_[t];
    target.start = {};
    if (target.pushed.flow == FlowKey{}) continue;
    target.start = start_of(t, target.pushed, burst.identity, now + lead_);
    send_meant(target.start, fault, now);
  }
  begin_copies(iteration, fault, now);
}

UdpStart BurstAnnouncer::start_of(std::uint32_t target, const BurstPlace& place,
                                  const BurstIdentity& burst, Time due_at) const noexcept {
  return {.flow = place.flow,
          .port = setup_.config.signal_port,
          .sequence = place.sequence,
          .threshold_packets = setup_.config.threshold_packets,
          .identity = burst,
          .burst_bytes = setup_.targets[target].burst_bytes,
          .due_at = due_at,
          .key = setup_.key,
          .dscp = setup_.dscp};
}

void BurstAnnouncer::send_start(const UdpStart& start, Time now) noexcept {
  if (setup_.config.signal_form == SignalForm::kUdp) host_.send_start(start, now);
  else host_.send_start(TosStart{start.flow, start.sequence, start.threshold_packets}, now);
}

/// Sends a START that is due for a burst, unless it is lost.
void BurstAnnouncer::send_meant(const UdpStart& start, const SignalFault& fault,
                                Time now) noexcept {
  ++counts_.meant;
  if (fault.lost) {
    ++counts_.lost;
    return;
  }
  if (fault.shift > Duration::zero()) ++counts_.late;
  if (fault.shift < Duration::zero()) ++counts_.early;
  send_start(start, now);
}

void BurstAnnouncer::begin_copies(std::uint32_t iteration, const SignalFault& fault,
                                  Time now) noexcept {
  if (fault.copies == 0) return;
  copies_of_ = iteration;
  copies_left_ = fault.copies;
  if (faults_.copy_gap() > Duration::zero())
    return set_timer(kCopyDue, iteration, now + faults_.copy_gap());
  while (copies_left_ > 0) send_copies(now);
}

/// A START that is copied ends the copies of an earlier one.
void BurstAnnouncer::on_copy_due(std::uint32_t iteration, Time now) noexcept {
  if (iteration != copies_of_ || copies_left_ == 0) return;
  send_copies(now);
  if (copies_left_ > 0) set_timer(kCopyDue, iteration, now + faults_.copy_gap());
}

/// Sends one more START to every target.
void BurstAnnouncer::send_copies(Time now) noexcept {
  for (const State& target : targets_) {
    if (target.start.flow == FlowKey{}) continue;
    send_start(target.start, now);
    ++counts_.duplicated;
  }
  --copies_left_;
}

/// Sends a START for a burst that never comes, on a connection that does not exist. Whoever forges
/// it has no key.
void BurstAnnouncer::forge(Time now) noexcept {
  const auto target = static_cast<std::uint32_t>(forged_ % targets_.size());
  const FlowKey flow{host_.address(), setup_.targets[target].host->address(), host_.ports().next(),
                     setup_.tcp_port};
  UdpStart start = start_of(target, {flow, host_.connections().initial_sequence(flow) + 1},
                            client_.burst(iteration_).identity, now + lead_);
  start.key = strange_key_ ? &*strange_key_ : nullptr;
  start.recorded = false;
  send_start(start, now);
  ++counts_.forged;
  set_timer(kForgeryDue, iteration_, now + faults_.forged_gap(setup_.worker, ++forged_));
}

/// Sends the host's last START again, as who has recorded it can.
void BurstAnnouncer::replay(Time now) noexcept {
  if (host_.replay_start(now)) ++counts_.replayed;
  set_timer(kReplayDue, iteration_, now + faults_.replayed_gap(setup_.worker, ++replays_due_));
}

}  // namespace outrider::tg
