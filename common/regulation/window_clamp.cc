#include "common/regulation/window_clamp.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "common/core/sequence.h"

namespace outrider {
namespace {

using namespace std::chrono_literals;

/// A receiver acknowledges every second segment at once (RFC 5681, 4.2).
constexpr std::uint32_t kSegmentsPerAck = 2;
constexpr std::uint32_t kFewestStandingSegments = 4;
/// Multiple of the window kept otherwise: a sender in recovery sends data beyond the hole while
/// the left edge does not move.
constexpr double kRecoveryRoom = 2;
/// Windows open in steps, one per answer of a held flow, which fills the queue in lumps. These
/// lumps say nothing about the senders' windows, so flows are spared marks for this long.
constexpr double kSettle_rtts = 2;
/// Answers of a held flow are timed once per round trip, queueing included. What was measured
/// longer ago says nothing of the queue.
constexpr double kWaitMemory_rtts = 4;
/// The floor holds over any span of at least this length.
constexpr double kFloorSpan_rtts = 10;
/// Longer than the time between two bursts of a training job.
constexpr Duration kBurstMemory = 60s;

/// Returns the window field of an old answer, which acknowledges less than one before it, if it is
/// to be lowered: the furthest edge that was told stands. A sender ignores such an answer, unless
/// the one before was forged, together with the data that it acknowledges. Then the true answers
/// look old until they have caught up with it. The field is rounded up to the scale's unit and not
/// remembered, because anybody can send old answers, and each would open the window by a part of a
/// unit.
std::optional<std::uint16_t> field_of_old_answer(const WindowFlow& f, std::uint32_t acknowledgment,
                                                 std::uint16_t window) noexcept {
  const auto room = static_cast<std::uint32_t>(sequence_distance(f.edge, acknowledgment));
  const std::uint32_t unit = 1U << f.scale();
  const std::uint32_t field = (room + unit - 1) / unit;
  if (field >= window) return std::nullopt;
  return static_cast<std::uint16_t>(field);
}

}  // namespace

WindowClamp::WindowClamp(const WindowPolicy& policy, BitRate drain_rate,
                         std::uint32_t overhead_bytes, std::uint32_t max_bursts, Place place)
    : policy_(policy),
      bytes_per_ns_(static_cast<double>(drain_rate.bits_per_second) / 8e9),
      overhead_bytes_(overhead_bytes),
      place_(place),
      bursts_(max_bursts),
      flows_(policy.max_flows) {
  assert(bytes_per_ns_ > 0 && policy.standing_clamp >= 1 && policy.floor < 1 &&
         policy.least_segments >= 1);
}

// -- What passes

void WindowClamp::move_on(const Queue& queue, Time now) noexcept {
  if (phase_ == Phase::kHolding && (!bursts_.any_open() || nearly_over(queue))) {
    phase_ = Phase::kReleasing;
    released_at_ = now;
    ++counters_.releases;
  } else if (phase_ == Phase::kReleasing &&
             now - released_at_ >= round_trips(policy_.release_rtts + kSettle_rtts, rtt_ns_)) {
    phase_ = Phase::kStanding;
  }
}

bool WindowClamp::expects_bursts(Time now) const noexcept {
  return announced_at_ && now - *announced_at_ < kBurstMemory;
}

/// A sender hears of an opened window with the flow's next answer, half a round trip away on
/// average, and its data are here `up` later. The last bytes of the bursts may have left the
/// queue by then. So the release may begin that much before these bytes enter the queue.
double WindowClamp::ahead_ns(double up_ns, double rtt_ns, const Queue& queue) const noexcept {
  const double drains_ns = drain_ns(queue);
  return up_ns + (rtt_ns + drains_ns) / 2 - drains_ns;
}

/// What remains comes no faster than the link takes it, and no faster than in slow start: the
/// acknowledgments of what is in flight let twice as much come. A byte is in flight here from the
/// queue to its acknowledgment, so that in_flight / (down + drains) is the rate at which bytes come
/// (Little's law). A burst that has not begun has nothing in flight, and does not end soon.
bool WindowClamp::bursts_end_within(double ns, const Queue& queue) const noexcept {
  const auto remaining = bursts_.remaining_bytes();
  if (!remaining) return false;
  const auto bytes = static_cast<double>(*remaining);
  const double stays_ns = rtt_ns_ - up_ns_ + drain_ns(queue);
  const auto in_flight = static_cast<double>(bursts_.in_flight_bytes());
  return bytes <= ns * bytes_per_ns_ && bytes * stays_ns <= kGrowth * in_flight * ns;
}

bool WindowClamp::nearly_over(const Queue& queue) const noexcept {
  return bursts_end_within(ahead_ns(up_ns_, rtt_ns_, queue), queue);
}

/// Returns whether a flow's data would be here before the last bytes of the bursts, although flows
/// on average are released: its round trip is much shorter than theirs.
bool WindowClamp::released_too_early(const WindowFlow& f, const Queue& queue) const noexcept {
  if (phase_ != Phase::kReleasing || f.held_bytes == 0 || !bursts_.any_open()) return false;
  const auto up_ns = static_cast<double>(f.up->count());
  return !bursts_.any_of_unknown_length() &&
         !bursts_end_within(ahead_ns(up_ns, rtt_ns(f), queue), queue);
}

void WindowClamp::on_start(const FlowKey& flow, std::uint32_t announced_sequence,
                           std::uint64_t bytes, Time now) noexcept {
  if (!bursts_.on_start(flow, announced_sequence, bytes)) {
    ++counters_.bursts_refused;
    return;
  }
  hold(now);
}

void WindowClamp::on_prediction(std::uint32_t address, std::uint64_t bytes, Time now) noexcept {
  if (bursts_.on_prediction(address, bytes)) hold(now);
  else ++counters_.bursts_refused;
}

void WindowClamp::hold(Time now) noexcept {
  phase_ = Phase::kHolding;
  on_announced(now);
}

void WindowClamp::on_burst_payload(const FlowKey& flow, std::uint32_t sequence, std::uint32_t bytes,
                                   const Queue& queue, Time now) noexcept {
  if (bursts_.on_payload(flow, sequence, bytes)) phase_ = Phase::kHolding;
  follow(queue, now);
}

WindowTreatment WindowClamp::on_data(const TcpView& s, const Queue& queue, Time now) noexcept {
  if (!s.syn)
    if (WindowFlow* open = open_flow(s.flow)) return on_open_data(*open, s, queue, now);
  follow(queue, now);
  WindowFlow* f = flows_.find(s.flow);
  if (f == nullptr) {
    if (!s.syn && s.payload_bytes == 0) return WindowTreatment::kFallback;
    f = flows_.insert(s.flow, now, counters_);
    if (f == nullptr) return WindowTreatment::kFallback;
    counters_.flows_without_handshake += !s.syn;
  }
  const bool was_barred = f->handshake == WindowFlow::Handshake::kBarred;
  const std::uint64_t sent_before = f->sent_bytes;
  if (s.payload_bytes > 0 && f->note_unanswered()) ++counters_.flows_without_answers;
  if (!f->on_data(s, now, timed_from(queue, now))) {
    ++counters_.segments_out_of_window;
    return WindowTreatment::kFallback;
  }
  counters_.flows_authenticated += !was_barred && f->handshake == WindowFlow::Handshake::kBarred;
  const WindowTreatment treatment = treat(*f, f->sent_bytes - sent_before, queue, now);
  return f->known() ? treatment : WindowTreatment::kFallback;
}

std::optional<std::uint16_t> WindowClamp::on_answer(const TcpView& s, const Queue& queue,
                                                    Time now) noexcept {
  const bool acknowledges = s.ack && !s.syn && !s.rst;
  if (acknowledges)
    if (WindowFlow* open = open_flow(s.flow.reversed()))
      return on_open_answer(*open, s, queue, now);
  follow(queue, now);
  WindowFlow* f = flows_.find(s.flow.reversed());
  if (f == nullptr && s.syn && !s.ack) f = flows_.insert(s.flow.reversed(), now, counters_);
  if (f == nullptr) return count(WindowReason::kUnknown);
  const bool was_barred = f->handshake == WindowFlow::Handshake::kBarred;
  if (!f->on_answer(s, now)) return on_refused_answer(*f, Answer(s), acknowledges);
  counters_.flows_authenticated += !was_barred && f->handshake == WindowFlow::Handshake::kBarred;
  if (s.syn || !s.ack) return count(WindowReason::kHandshake);
  if (s.rst || f->closing || !f->known()) {
    f->leave_alone(s);
    if (s.rst) return count(WindowReason::kHandshake);
    return count(f->known() ? WindowReason::kClosing : WindowReason::kUnknown);
  }
  note_weight(*f, rtt_ns(*f), now);
  return limit(*f, Answer(s), queue, now);
}

/// Handles an answer that the flow did not take. @param acknowledges  ACK without SYN and RST
std::optional<std::uint16_t> WindowClamp::on_refused_answer(const WindowFlow& f, Answer s,
                                                            bool acknowledges) noexcept {
  ++counters_.segments_out_of_window;
  const bool old = acknowledges && f.known() && f.has_edge &&
                   sequence_distance(s.acknowledgment, f.acknowledged) < 0;
  if (!old) return count(WindowReason::kUnknown);
  count(WindowReason::kOld);
  const auto field = field_of_old_answer(f, s.acknowledgment, s.window);
  counters_.rewritten += field.has_value();
  return field;
}

std::optional<std::uint16_t> WindowClamp::limit(WindowFlow& f, Answer s, const Queue& queue,
                                                Time now) noexcept {
  Target t = target(f, queue, now);
  const auto field = field_for(f, s, t);
  count(t.reason);
  counters_.rewritten += field.has_value();
  return field;
}

// -- How early

/// Small flows are not held, so what they were told does not have to drain. With `strict`, whole
/// paths are left out: lead costs background a path there. Windows that have not opened yet after a
/// burst count as they will stand.
void WindowClamp::note_told(const WindowFlow& f, double own_rtt_ns) noexcept {
  if (f.sent_less_than(pipe_bytes(f, own_rtt_ns))) return;
  const double standing = policy_.standing_clamp * f.largest_flight();
  const double told = static_cast<double>(std::uint32_t{f.told_window} << f.scale());
  const bool counts_paths = policy_.rule == WindowRule::kComplement;
  told_now_.add(
      (counts_paths ? std::max(told, standing) : standing) / f.payload_share(overhead_bytes_),
      f.segment_frame_bytes + overhead_bytes_, own_rtt_ns);
}

std::optional<WindowLead> WindowClamp::lead(double h_packets, double standing_packets,
                                            Time now) noexcept {
  if (phase_ != Phase::kStanding) return std::nullopt;
  if (now - round_began_ >= round_trips(2 * kRound_rtts, rtt_ns_)) return WindowLead{};
  const ToldWindows& told = told_last_.queue_bytes > told_now_.queue_bytes ? told_last_ : told_now_;
  if (told.flows == 0) return WindowLead{};
  const double frame_bytes = told.frame_bytes / told.flows;
  const WindowLead lead =
      window_lead({.rate = {static_cast<std::uint64_t>(bytes_per_ns_ * 8e9)},
                   .rtt = round_trips(1, told.rtt_ns / told.flows),
                   .packet_bytes = static_cast<std::uint32_t>(std::lround(frame_bytes)),
                   .standing_packets = standing_packets,
                   .h_packets = h_packets,
                   .flows = told.flows,
                   .standing_clamp = policy_.standing_clamp,
                   .least_segments = policy_.least_segments,
                   .told_packets = told.queue_bytes / frame_bytes});
  counters_.starts_beyond_lead += lead.kept_share > WindowLead::kMostKept;
  return lead;
}

// -- What waits in a queue further on

/// Takes over what the flow's latest answer says, if it was timed.
void WindowClamp::note_wait(const WindowFlow& f, Time now) noexcept {
  if (f.sampled_at != now || !f.down) return;
  const Duration wait = f.down_sample - *f.down;
  if (now - wait_began_ >= round_trips(1, rtt_ns_)) {
    wait_last_ = wait_now_;
    wait_now_.reset();
    wait_began_ = now;
  }
  wait_now_ = wait_now_ ? std::min(*wait_now_, wait) : wait;
}

std::uint64_t WindowClamp::waiting_beyond_bytes(Time now) noexcept {
  if (now - wait_began_ >= round_trips(kWaitMemory_rtts, rtt_ns_)) return 0;
  const Duration wait =
      std::min(wait_last_.value_or(Duration::max()), wait_now_.value_or(Duration::max()));
  if (wait == Duration::max()) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(wait.count()) * bytes_per_ns_);
}

std::uint64_t WindowClamp::in_flight_bytes() const noexcept {
  std::uint64_t bytes = 0;
  flows_.for_each([&bytes](const WindowFlow& f) {
    if (f.known() && !f.closing) bytes += f.passed_unacknowledged();
  });
  return bytes;
}

// -- How much

/// Returns what fills `f`'s path and the queue up to h [payload bytes].
double WindowClamp::room_bytes(const WindowFlow& f) const noexcept {
  return pipe_bytes(f, rtt_ns(f)) + static_cast<double>(h_packets_) * f.segment_bytes;
}

/// Returns the flow's part of a total, in proportion to what it had in flight before.
double WindowClamp::part_of(const WindowFlow& f, double total) const noexcept {
  const double weights = std::max({weight_last_, weight_now_, 1.0});
  return total * std::min(1.0, f.largest_flight() / weights);
}

/// Returns the flow's part of the floor [payload bytes per ns]. Held data come in trains, one
/// per round trip, that pass within about half of it. A span that begins behind a train and
/// ends before another one misses half a round trip's worth. The margin makes up for that.
double WindowClamp::floor_rate(const WindowFlow& f, double path_ns) const noexcept {
  const double span_ns = kFloorSpan_rtts * rtt_ns(f);
  const double missed_ns = std::min(path_ns, span_ns) / 2;
  const double margin = span_ns > 0 ? span_ns / (span_ns - missed_ns) : 1;
  return margin * part_of(f, policy_.floor * bytes_per_ns_ * f.payload_share(overhead_bytes_));
}

void WindowClamp::pay_floor(WindowFlow& f, std::uint64_t bytes, const Queue& queue,
                            Time now) const noexcept {
  const double waits_ns = drain_ns(queue), path_ns = rtt_ns(f) + waits_ns;
  const double rate = floor_rate(f, path_ns);
  if (rate <= 0) return;
  f.floor.pay(static_cast<double>(bytes), rate, now + round_trips(1, waits_ns),
              round_trips(1, path_ns));
}

/// Returns what this answer has to allow for the floor, in whole segments, rounded up, because
/// a sender sends only whole segments. Data that it allows are here `up` later. If no data of
/// the flow are under way that will bring another answer, it has to last a round trip longer.
double WindowClamp::floor_bytes(const WindowFlow& f, const Queue& queue, Time now) const noexcept {
  const double waits_ns = drain_ns(queue), path_ns = rtt_ns(f) + waits_ns;
  const double rate = floor_rate(f, path_ns);
  const double up_ns = f.up ? static_cast<double>(f.up->count()) : up_ns_;
  const std::uint32_t under_way = f.passed_unacknowledged();
  const bool last = under_way < kSegmentsPerAck * f.segment_bytes;
  const Time until = now + round_trips(1, waits_ns + up_ns + (last ? path_ns : 0));
  const double owed = f.floor.owed_bytes(rate, until, round_trips(1, path_ns + up_ns));
  const double floor = std::max(rate * path_ns, owed > 0 ? under_way + owed : 0);
  const double segment = f.segment_bytes;
  return segment > 0 ? std::ceil(floor / segment) * segment : floor;
}

/// Returns the window of a held flow, before `least_segments` is applied [payload bytes].
double WindowClamp::held_bytes(const WindowFlow& f, const Queue& queue, Time now) const noexcept {
  const double floor = policy_.floor > 0 ? floor_bytes(f, queue, now) : 0;
  if (policy_.rule == WindowRule::kStrict) return floor;
  const auto displaced = policy_.gain * static_cast<double>(bursts_.in_flight_bytes());
  return std::max(floor, part_of(f, room_bytes(f) - displaced));
}

/// Opens linearly up to the flow's part of the path and of h, and stays there until the lumps
/// have settled, because the bursts' last bytes may still be in the queue.
double WindowClamp::releasing_bytes(const WindowFlow& f, double standing, Time now) const noexcept {
  const double held = f.held_bytes;
  const double full = std::clamp(part_of(f, room_bytes(f)), held, std::max(held, standing));
  const double over = policy_.release_rtts * rtt_ns(f);
  // A flow whose round trip is short may have been held on when the others were released.
  const auto since = static_cast<double>((now - std::max(released_at_, f.held_at)).count());
  return since >= over ? full : held + (full - held) * since / over;
}

/// Returns whether the flow's window is on its way from held to standing. The flow's own round
/// trips count, which may be many times those of the flows on average.
bool WindowClamp::opens(const WindowFlow& f, Time now) const noexcept {
  if (f.held_bytes == 0 || phase_ == Phase::kHolding) return false;
  if (phase_ == Phase::kReleasing) return true;
  return now - std::max(released_at_, f.held_at) <
         round_trips(policy_.release_rtts + kSettle_rtts, rtt_ns(f));
}

/// What one answer allows comes to the queue as a lump. A held flow has one answer in a round trip,
/// and the longer that is, the more may be missing: the lump would be larger than the queue. So to
/// a queue further on an answer moves the edge by h at most, and by what it may have acknowledged.
double WindowClamp::opened_bytes(const WindowFlow& f, double least, double standing,
                                 Time now) const noexcept {
  // It may send larger segments than when it was held.
  const double opened = std::max(releasing_bytes(f, standing, now), least);
  if (place_ == Place::kHere || !f.has_edge) return opened;
  const double lump = static_cast<double>(h_packets_) * f.segment_bytes + least;
  return std::min(opened, std::max(0, sequence_distance(f.edge, f.acknowledged)) + lump);
}

WindowClamp::Target WindowClamp::target(WindowFlow& f, const Queue& queue, Time now) noexcept {
  const std::uint32_t segment =
      f.segment_bytes != 0 ? f.segment_bytes : WindowFlow::kDefaultSegment_bytes;
  const std::uint32_t least = policy_.least_segments * segment;
  const double pipe = pipe_bytes(f, rtt_ns(f));
  const bool small = f.sent_less_than(pipe);
  const std::uint32_t fewest = std::max(kFewestStandingSegments * segment, least);
  double standing =
      std::max(policy_.standing_clamp * f.largest_flight(), static_cast<double>(fewest));
  if (small || f.limited || !expects_bursts(now)) standing = std::max(standing, pipe);
  const bool holds = phase_ == Phase::kHolding || released_too_early(f, queue);
  const bool held_before = holds && f.held_bytes != 0;
  if (f.recovering() && !held_before) return {kRecoveryRoom * standing, WindowReason::kRecovery};
  if (small) return {standing, WindowReason::kSmall};
  if (holds) {
    if (f.held_bytes == 0) {  // it has more in flight than any floor
      const double waits_ns = drain_ns(queue);
      f.floor.begin(now + round_trips(1, waits_ns), round_trips(1, rtt_ns(f) + waits_ns));
    }
    const double held = std::clamp(held_bytes(f, queue, now), static_cast<double>(least), standing);
    f.held_bytes = static_cast<std::uint32_t>(held);
    f.held_at = now;
    if (f.recovering()) return {kRecoveryRoom * held, WindowReason::kRecovery};
    return {held, WindowReason::kHeld};
  }
  if (opens(f, now)) return {opened_bytes(f, least, standing, now), WindowReason::kReleasing};
  f.held_bytes = 0;
  return {standing, WindowReason::kStanding};
}

/// Returns the window field for `t.bytes`, rounded up to the scale's unit: rounded down, two
/// segments would become one. The edge never moves left, nor beyond the receiver's.
std::optional<std::uint16_t> WindowClamp::field_for(WindowFlow& f, Answer s,
                                                    Target& t) const noexcept {
  const std::uint32_t unit = 1U << f.scale();
  const std::uint32_t true_edge = f.edge_of(s.acknowledgment, s.window);
  constexpr double kLargest = 1U << 30;
  std::uint32_t edge = s.acknowledgment + static_cast<std::uint32_t>(std::min(t.bytes, kLargest));
  if (f.has_edge) edge = later_sequence(edge, f.edge);
  const auto units =
      (static_cast<std::uint32_t>(sequence_distance(edge, s.acknowledgment)) + unit - 1) / unit;
  std::uint32_t field = units;
  if (f.duplicate && !f.window_moved && !s.sack_blocks) field = f.told_window;
  else if (f.duplicate && f.window_moved && field == f.told_window) ++field;
  if (field >= s.window) {
    if (sequence_distance(true_edge, edge) <= 0) t.reason = WindowReason::kReceiver;
    field = s.window;
  }
  const std::uint32_t told = s.acknowledgment + (field << f.scale());
  f.edge = f.has_edge ? later_sequence(f.edge, told) : told;
  f.has_edge = true;
  f.told_window = static_cast<std::uint16_t>(field);
  if (field == s.window) return std::nullopt;
  return f.told_window;
}

}  // namespace outrider
