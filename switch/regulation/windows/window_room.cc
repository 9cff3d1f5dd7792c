#include "switch/regulation/windows/window_room.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "common/core/sequence.h"

namespace outrider {
namespace {

/// A receiver acknowledges every second segment at once (RFC 5681, 4.2).
constexpr std::uint32_t kSegmentsPerAck = 2;
constexpr std::uint32_t kFewestStandingSegments = 4;
/// The floor holds over any span of at least this length.
constexpr double kFloorSpan_rtts = 10;

/// Returns what fills `f`'s path and the queue up to h [payload bytes].
double room_bytes(const WindowState& c, const WindowFlow& f) noexcept {
  return c.path.pipe_bytes(f, c.path.rtt_ns(f)) +
         static_cast<double>(c.phase.h_packets()) * f.segment_bytes;
}

/// Returns the flow's part of a total, in proportion to what it had in flight before.
double part_of(const WindowState& c, const WindowFlow& f, double total) noexcept {
  return total * std::min(1.0, f.largest_flight() / c.rounds.weights());
}

/// Returns the flow's part of the floor [payload bytes per ns]. Held data come in trains, one
/// per round trip, that pass within about half of it. A span that begins behind a train and
/// ends before another one misses half a round trip's worth. The margin makes up for that.
double floor_rate(const WindowState& c, const WindowFlow& f, double path_ns) noexcept {
  const double span_ns = kFloorSpan_rtts * c.path.rtt_ns(f);
  const double missed_ns = std::min(path_ns, span_ns) / 2;
  const double margin = span_ns > 0 ? span_ns / (span_ns - missed_ns) : 1;
  const double share = f.payload_share(c.path.overhead_bytes);
  return margin * part_of(c, f, c.policy.floor * c.path.bytes_per_ns * share);
}

/// Returns what this answer has to allow for the floor, in whole segments, rounded up, because
/// a sender sends only whole segments. Data that it allows are here `up` later. If no data of
/// the flow are under way that will bring another answer, it has to last a round trip longer.
double floor_bytes(const WindowState& c, const WindowFlow& f, const BottleneckQueue& queue,
                   Time now) noexcept {
  const double waits_ns = c.path.drain_ns(queue), path_ns = c.path.rtt_ns(f) + waits_ns;
  const double rate = floor_rate(c, f, path_ns);
  const double up_ns = f.up ? static_cast<double>(f.up->count()) : c.rounds.up_ns();
  const std::uint32_t under_way = f.passed_unacknowledged();
  const bool last = under_way < kSegmentsPerAck * f.segment_bytes;
  const Time until = now + round_trips(1, waits_ns + up_ns + (last ? path_ns : 0));
  const double owed = f.floor.owed_bytes(rate, until, round_trips(1, path_ns + up_ns));
  const double floor = std::max(rate * path_ns, owed > 0 ? under_way + owed : 0);
  const double segment = f.segment_bytes;
  return segment > 0 ? std::ceil(floor / segment) * segment : floor;
}

/// Returns the window of a held flow, before `least_segments` is applied [payload bytes].
double held_bytes(const WindowState& c, const WindowFlow& f, const BottleneckQueue& queue,
                  Time now) noexcept {
  const double floor = c.policy.floor > 0 ? floor_bytes(c, f, queue, now) : 0;
  if (c.policy.rule == WindowRule::kStrict) return floor;
  const auto displaced = c.policy.gain * static_cast<double>(c.phase.in_flight_bytes());
  return std::max(floor, part_of(c, f, room_bytes(c, f) - displaced));
}

/// Opens linearly up to the flow's part of the path and of h, and stays there until the lumps
/// have settled, because the bursts' last bytes may still be in the queue.
double releasing_bytes(const WindowState& c, const WindowFlow& f, double standing,
                       Time now) noexcept {
  const double held = f.held_bytes;
  const double full = std::clamp(part_of(c, f, room_bytes(c, f)), held, std::max(held, standing));
  const double over = HoldPhase::kRelease_rtts * c.path.rtt_ns(f);
  const auto since = static_cast<double>(c.phase.opening_for(f, now).count());
  return since >= over ? full : held + (full - held) * since / over;
}

/// What one answer allows comes to the queue as a lump. A held flow has one answer in a round trip,
/// and the longer that is, the more may be missing: the lump would be larger than the queue. So to
/// a queue further on an answer moves the edge by h at most, and by what it may have acknowledged.
double opened_bytes(const WindowState& c, const WindowFlow& f, double least, double standing,
                    Time now) noexcept {
  // It may send larger segments than when it was held.
  const double opened = std::max(releasing_bytes(c, f, standing, now), least);
  if (!c.remote || !f.has_edge) return opened;
  const double lump = static_cast<double>(c.phase.h_packets()) * f.segment_bytes + least;
  return std::min(opened, std::max(0, sequence_distance(f.edge, f.acknowledged)) + lump);
}

}  // namespace

void pay_floor(const WindowState& c, WindowFlow& f, std::uint64_t bytes,
               const BottleneckQueue& queue, Time now) noexcept {
  const double waits_ns = c.path.drain_ns(queue), path_ns = c.path.rtt_ns(f) + waits_ns;
  const double rate = floor_rate(c, f, path_ns);
  if (rate <= 0) return;
  f.floor.pay(static_cast<double>(bytes), rate, now + round_trips(1, waits_ns),
              round_trips(1, path_ns));
}

WindowTarget target_of(const WindowState& c, WindowFlow& f, const BottleneckQueue& queue,
                       Time now) noexcept {
  const std::uint32_t segment =
      f.segment_bytes != 0 ? f.segment_bytes : WindowFlow::kDefaultSegment_bytes;
  const std::uint32_t least = c.policy.least_segments * segment;
  const double rtt_ns = c.path.rtt_ns(f), pipe = c.path.pipe_bytes(f, rtt_ns);
  const bool small = f.sent_less_than(pipe);
  const std::uint32_t fewest = std::max(kFewestStandingSegments * segment, least);
  double standing =
      std::max(c.policy.standing_clamp * f.largest_flight(), static_cast<double>(fewest));
  if (small || f.limited || !c.phase.expects_bursts(now)) standing = std::max(standing, pipe);
  const bool holds = c.phase.holding() || c.phase.holds_on(f, c.path, c.rounds, queue);
  const bool held_before = holds && f.held_bytes != 0;
  if (f.recovering() && !held_before) return {kRecoveryRoom * standing, WindowReason::kRecovery};
  if (small) return {standing, WindowReason::kSmall};
  if (holds) {
    if (f.held_bytes == 0) {  // it has more in flight than any floor
      const double waits_ns = c.path.drain_ns(queue);
      f.floor.begin(now + round_trips(1, waits_ns), round_trips(1, rtt_ns + waits_ns));
    }
    const double held =
        std::clamp(held_bytes(c, f, queue, now), static_cast<double>(least), standing);
    f.held_bytes = static_cast<std::uint32_t>(held);
    f.held_at = now;
    if (f.recovering()) return {kRecoveryRoom * held, WindowReason::kRecovery};
    return {held, WindowReason::kHeld};
  }
  if (c.phase.opens(f, rtt_ns, now)) {
    const double opened = opened_bytes(c, f, least, standing, now);
    assert(opened >= least);
    return {opened, WindowReason::kReleasing};
  }
  f.held_bytes = 0;
  return {standing, WindowReason::kStanding};
}

}  // namespace outrider
