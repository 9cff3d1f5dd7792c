#include "switch/regulation/grants/burst_admission.h"

#include <algorithm>
#include <cassert>

#include "common/core/sequence.h"
#include "switch/regulation/regulator/burst_reach.h"

namespace outrider {
namespace {

/// Returns how long an answer waits at most. @param bytes  that all bursts before it announce
Duration patience(const BurstAdmission::Setup& setup, std::uint64_t bytes) noexcept {
  constexpr Duration kMost = BurstAdmission::kMostPatience;
  if (setup.policy.max_wait) return *setup.policy.max_wait;
  const double ns = static_cast<double>(BurstAdmission::kSlowness * bytes) / setup.bytes_per_ns;
  if (ns > static_cast<double>(kMost.count())) return kMost;
  return std::min(setup.expiry + Duration(static_cast<Duration::rep>(ns)), kMost);
}

/// Returns the most that may be ahead of a burst of `bytes` when it is granted [bytes].
std::uint64_t room_for(const BurstAdmission::Setup& setup, std::uint64_t bytes) noexcept {
  const std::uint64_t beside = setup.budget_bytes - std::min(setup.budget_bytes, bytes);
  const double overlap = static_cast<double>(setup.policy.overlap.count()) * setup.bytes_per_ns;
  return std::max(beside, static_cast<std::uint64_t>(overlap));
}

}  // namespace

BurstAdmission::BurstAdmission(const Setup& setup)
    : setup_(setup),
      table_(setup.max_entries, setup.max_per_sender),
      entries_(setup.max_entries),
      line_(setup.policy.order, setup.policy.parts, setup.max_entries),
      debts_(setup.max_entries, kForgiven * setup.idle),
      events_(setup.max_entries),
      seen_(setup.max_entries) {
  assert(setup.bytes_per_ns > 0 && setup.budget_bytes > 0);
}

/// Makes sure that there is a slot. An entry whose answer has not come may be evicted.
bool BurstAdmission::make_room(const FlowKey& flow) noexcept {
  const auto [room, victim] = table_.room_for(flow);
  switch (room) {
    case EntrySlots::Room::kFree:
      break;
    case EntrySlots::Room::kEvict:
      assert(entries_[victim].state == State::kAnnounced);
      end(victim, counters_.evicted, Time{});
      break;
    case EntrySlots::Room::kRefusedSender:
      ++counters_.refused_sender;
      return false;
    case EntrySlots::Room::kRefusedTable:
      ++counters_.refused_table;
      return false;
  }
  return true;
}

const BurstAdmission::Seen* BurstAdmission::seen(const FlowKey& flow, Time now) const noexcept {
  const Seen* last = seen_.find(flow);
  return last != nullptr && now - last->at < kStaleFor ? last : nullptr;
}

/// Sets how many bytes the burst is taken to have: those of its START, of its flow's burst before,
/// or else `otherwise`. Two STARTs of a connection say how long the first burst was, if it sends
/// nothing else. @param last  burst of the flow; nullptr: not known
void BurstAdmission::Entry::size(const Seen* last, std::uint64_t otherwise) noexcept {
  bytes = start.bytes.value_or(0);
  if (bytes == 0 && last != nullptr) {
    const std::int32_t between = sequence_distance(start.sequence, last->sequence);
    bytes = between > 0 ? static_cast<std::uint32_t>(between) : last->bytes;
  }
  known = bytes != 0;
  bytes = known ? std::min(bytes, kMostBytes) : otherwise;
}

BurstAdmission::Heard BurstAdmission::on_start(const StartSignal& start, Time now) noexcept {
  const std::uint32_t live = table_.find(start.flow);
  std::optional<std::uint32_t> last;
  if (live != EntrySlots::kNone) last = entries_[live].start.sequence;
  else if (const Seen* over = seen(start.flow, now); over != nullptr) last = over->sequence;
  const std::int32_t ahead = last ? sequence_distance(start.sequence, *last) : 1;
  if (ahead < 0) {
    ++counters_.stale;
    return {StartVerdict::kStale};
  }
  if (ahead == 0) {
    ++counters_.repeated;
    return {StartVerdict::kRepeated};
  }
  Heard heard{StartVerdict::kRefused};
  if (live != EntrySlots::kNone) {
    if (entries_[live].state == State::kWaiting) {
      heard.replaced = live;
      ++counters_.acks_replaced;
    }
    end(live, counters_.replaced, now);
  }
  if (!make_room(start.flow)) return heard;
  enter(start, now);
  heard.verdict = StartVerdict::kEntered;
  return heard;
}

/// @pre there is a slot
void BurstAdmission::enter(const StartSignal& start, Time now) noexcept {
  const std::uint32_t slot = table_.add(start.flow);
  Entry& e = entries_[slot];
  e = {.start = start};
  e.size(seen(start.flow, now), setup_.budget_bytes);
  announced_ += e.bytes;
  e.grant_from = start.due ? std::max(now, *start.due - setup_.policy.overlap) : now;
  e.ends_at = e.grant_from + patience(setup_, announced_);
  line_.join(slot, start.flow, e.bytes, number_++);
  events_.push(slot, next_of(e, slot));
  ++counters_.entered;
}

BurstAdmission::Answer BurstAdmission::on_ack(const FlowKey& flow, std::uint32_t sequence,
                                              std::uint64_t queued_bytes, Time now) noexcept {
  const std::uint32_t slot = table_.find(flow);
  if (slot == EntrySlots::kNone) return {};
  Entry& e = entries_[slot];
  if (e.start.sequence != sequence) return {};
  if (e.state == State::kWaiting) {
    ++counters_.acks_repeated;
    return {AckVerdict::kDrop, slot};
  }
  if (e.state != State::kAnnounced) return {};
  table_.begin(slot);
  if (e.grant_from <= now && line_.empty() && fits(slot, queued_bytes, now)) {
    ++counters_.acks_at_once;
    line_.wait(slot);
    line_.grant(slot);
    run(slot, now);
    assert(in_debt(slot, now) || in_flight_ + queued_bytes <= room_for(setup_, e.bytes) + e.bytes);
    return {AckVerdict::kGranted, slot};
  }
  e.state = State::kWaiting;
  e.since = now;
  ++waiting_;
  ++counters_.acks_held;
  if (e.grant_from <= now) line_.wait(slot);
  events_.change(slot, next_of(e, slot));
  return {AckVerdict::kWait, slot};
}

void BurstAdmission::on_payload(const FlowKey& flow, std::uint32_t sequence, std::uint32_t bytes,
                                bool fin, Time now) noexcept {
  const std::uint32_t slot = table_.find(flow);
  if (slot == EntrySlots::kNone) return;
  Entry& e = entries_[slot];
  const std::uint64_t left = e.left();
  e.reached = reached_after(e.start.sequence, e.reached, sequence + bytes);
  if (e.reached == 0) return;                                        // earlier data, sent again
  if (e.state == State::kWaiting) return events_.change(slot, now);  // take() lets it pass
  if (e.state == State::kGranted) {
    in_flight_ -= left - e.left();
    blame(e, bytes, now);
    e.since = now;
    if (in_debt(slot, now)) lapse(e);
  } else if (e.state != State::kLapsed || !in_debt(slot, now)) {
    ++(e.state == State::kLapsed ? counters_.revived : counters_.came_unasked);
    if (e.state == State::kAnnounced) table_.begin(slot);
    const Time ends_at = e.ends_at;
    const bool anew = e.state == State::kAnnounced;
    run(slot, now);
    if (!anew) e.ends_at = ends_at;  // who is silent gains no time
  }
  if (fin || (e.known && e.left() == 0)) end(slot, counters_.complete, now);
}

Time BurstAdmission::next_of(const Entry& e, std::uint32_t slot) const noexcept {
  if (e.state == State::kGranted) return std::min(e.since + setup_.idle, e.ends_at);
  if (e.state == State::kWaiting && !line_.waits(slot)) return std::min(e.grant_from, e.ends_at);
  return e.ends_at;
}

/// Processes what is due of an entry. @return whether its answer passes
bool BurstAdmission::process(std::uint32_t slot, Time now) noexcept {
  Entry& e = entries_[slot];
  if (e.state == State::kWaiting && e.reached > 0) {
    release(slot, counters_.went_ahead, now);
    if (e.known && e.left() == 0) end(slot, counters_.complete, now);
    return true;
  }
  if (e.ends_at <= now) {
    if (e.state == State::kWaiting) {
      release(slot, counters_.waited_out, now);
      return true;
    }
    end(slot, e.state == State::kAnnounced ? counters_.no_answer : counters_.overstayed, now);
    return false;
  }
  if (e.state == State::kWaiting && e.grant_from <= now && !line_.waits(slot)) line_.wait(slot);
  if (e.state == State::kGranted && e.since + setup_.idle <= now) {
    blame(e, 0, now);
    lapse(e);
  }
  events_.change(slot, next_of(e, slot));
  return false;
}

/// The burst takes no room from now on. @pre it does
void BurstAdmission::lapse(Entry& e) noexcept {
  in_flight_ -= e.left();
  e.state = State::kLapsed;
  ++counters_.lapsed;
}

/// Lets an answer pass that waits.
void BurstAdmission::release(std::uint32_t slot, std::uint64_t& why, Time now) noexcept {
  const auto waited = static_cast<std::uint64_t>((now - entries_[slot].since).count());
  counters_.wait_ns += waited;
  counters_.longest_wait_ns = std::max(counters_.longest_wait_ns, waited);
  ++why;
  --waiting_;
  if (line_.waits(slot)) line_.leave(slot);
  run(slot, now);
}

/// From now on the burst takes room, unless its sender is in debt. @pre it does not wait in the
/// line
void BurstAdmission::run(std::uint32_t slot, Time now) noexcept {
  Entry& e = entries_[slot];
  e.state = in_debt(slot, now) ? State::kLapsed : State::kGranted;
  e.since = now;
  if (e.state == State::kGranted) in_flight_ += e.left();
  else ++counters_.in_debt;
  e.ends_at = now + patience(setup_, std::max(in_flight_, e.bytes));
  events_.change(slot, next_of(e, slot));
}

/// Charges a granted burst for the time since its last payload, if others wait.
/// @param bytes  that have come now
void BurstAdmission::blame(const Entry& e, std::uint32_t bytes, Time now) noexcept {
  if (line_.empty()) return;
  const double ns = static_cast<double>(kSlowest * bytes) / setup_.bytes_per_ns;
  const Duration wasted = now - e.since - Duration(static_cast<Duration::rep>(ns));
  if (wasted > Duration::zero())
    debts_.charge(RegulationBudget::sender_of(e.start.flow), std::min(wasted, setup_.idle), now);
}

/// Removes an entry. The caller ends its answer, if that waits.
void BurstAdmission::end(std::uint32_t slot, std::uint64_t& why, Time now) noexcept {
  Entry& e = entries_[slot];
  ++why;
  if (e.state == State::kGranted) {
    in_flight_ -= e.left();
    blame(e, 0, now);
  }
  if (e.state == State::kWaiting) --waiting_;
  if (line_.waits(slot)) line_.leave(slot);
  line_.part(slot);
  if (e.reached > 0) seen_.put(e.start.flow, {e.start.sequence, e.reached, now});
  announced_ -= e.bytes;
  events_.remove(slot);
  table_.remove(slot);
  assert(bursts() > 0 || (in_flight_ == 0 && announced_ == 0 && waiting_ == 0));
}

bool BurstAdmission::fits(std::uint32_t slot, std::uint64_t queued_bytes, Time now) const noexcept {
  return in_flight_ + queued_bytes <= room_for(setup_, entries_[slot].bytes) || in_debt(slot, now);
}

std::optional<BurstAdmission::Release> BurstAdmission::take(std::uint64_t queued_bytes,
                                                            Time now) noexcept {
  for (std::uint32_t left = kMostEvents; left > 0; --left) {
    if (!events_.empty() && events_.top_key() <= now) {
      const std::uint32_t slot = events_.top();
      if (process(slot, now)) return Release{slot, false};
      continue;
    }
    if (line_.empty() || !fits(line_.next(), queued_bytes, now)) return std::nullopt;
    const std::uint32_t slot = line_.next();
    line_.grant(slot);
    release(slot, counters_.granted, now);
    assert(in_debt(slot, now) || in_flight_ + queued_bytes <=
                                     room_for(setup_, entries_[slot].bytes) + entries_[slot].bytes);
    return Release{slot, true};
  }
  return std::nullopt;
}

/// Payload that comes, or stays away, is an event of its entry. That the queue has drained is none,
/// so the instant is computed from its bytes and the link's rate.
Time BurstAdmission::next_event(std::uint64_t queued_bytes, Time now) const noexcept {
  Time at = events_.empty() ? kNever : std::max(events_.top_key(), now);
  if (line_.empty()) return at;
  const std::uint64_t room = room_for(setup_, entries_[line_.next()].bytes);
  const std::uint64_t ahead = in_flight_ + queued_bytes;
  if (ahead <= room || in_debt(line_.next(), now)) return now;
  const std::uint64_t over = ahead - room;
  if (over > queued_bytes) return at;
  // The queue drains by packets, so that there is nothing to see earlier.
  const auto bytes = static_cast<double>(std::max<std::uint64_t>(over, setup_.frame_bytes));
  const double ns = bytes / setup_.bytes_per_ns;
  return std::min(at, now + Duration(1 + static_cast<Duration::rep>(ns)));
}

}  // namespace outrider
