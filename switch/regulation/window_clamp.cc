#include "switch/regulation/window_clamp.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "common/core/sequence.h"

namespace outrider {
namespace {

using namespace std::chrono_literals;

/// Answers of a held flow are timed once per round trip, queueing included. What was measured
/// longer ago says nothing of the queue.
constexpr double kWaitMemory_rtts = 4;
/// Longer than the time between two bursts of a training job.
constexpr Duration kBurstMemory = 60s;

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
    ++flows_.counters().releases;
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
    ++flows_.counters().bursts_refused;
    return;
  }
  hold(now);
}

void WindowClamp::on_prediction(std::uint32_t address, std::uint64_t bytes, Time now) noexcept {
  if (bursts_.on_prediction(address, bytes)) hold(now);
  else ++flows_.counters().bursts_refused;
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
  const auto [f, fresh] = flows_.take_data(s, now, timed_from(queue, now));
  if (f == nullptr) return WindowTreatment::kFallback;
  const WindowTreatment treatment = treat(*f, fresh, queue, now);
  return f->known() ? treatment : WindowTreatment::kFallback;
}

std::optional<std::uint16_t> WindowClamp::on_answer(const TcpView& s, const Queue& queue,
                                                    Time now) noexcept {
  if (s.ack && !s.syn && !s.rst)
    if (WindowFlow* open = open_flow(s.flow.reversed()))
      return on_open_answer(*open, s, queue, now);
  follow(queue, now);
  const auto [f, field] = flows_.take_answer(s, now);
  if (f == nullptr) return field;
  note_weight(*f, rtt_ns(*f), now);
  return limit(*f, WindowAnswer(s), queue, now);
}

std::optional<std::uint16_t> WindowClamp::limit(WindowFlow& f, WindowAnswer s, const Queue& queue,
                                                Time now) noexcept {
  return flows_.tell(f, s, target(f, queue, now));
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
  flows_.counters().starts_beyond_lead += lead.kept_share > WindowLead::kMostKept;
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

}  // namespace outrider
