// How much the windows of WindowClamp allow.
#include <algorithm>
#include <cmath>

#include "common/core/sequence.h"
#include "switch/regulation/window_clamp.h"

namespace outrider {
namespace {

/// A receiver acknowledges every second segment at once (RFC 5681, 4.2).
constexpr std::uint32_t kSegmentsPerAck = 2;
constexpr std::uint32_t kFewestStandingSegments = 4;
/// The floor holds over any span of at least this length.
constexpr double kFloorSpan_rtts = 10;

}  // namespace

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

WindowTarget WindowClamp::target(WindowFlow& f, const Queue& queue, Time now) noexcept {
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

}  // namespace outrider
