#include "switch/regulation/windows/hold_phase.h"

namespace outrider {
namespace {

/// Longer than the time between two bursts of a training job.
constexpr Duration kBurstMemory = std::chrono::seconds(60);
/// Growth of what a burst has in flight from one round trip to the next: slow start.
constexpr double kGrowth = 2;

/// Returns how much before the last bytes of the bursts a release may begin.
double ahead_ns(double up_ns, double rtt_ns, double drains_ns) noexcept {
  return up_ns + (rtt_ns + drains_ns) / 2 - drains_ns;
}

}  // namespace

/// What remains comes no faster than the link takes it, and no faster than in slow start: the
/// acknowledgments of what is in flight let twice as much come. A byte is in flight here from the
/// queue to its acknowledgment, so that in_flight / (down + drains) is the rate at which bytes come
/// (Little's law). A burst that has not begun has nothing in flight, and does not end soon.
bool HoldPhase::bursts_end_within(double ns, const WindowPath& path, const FlowRounds& rounds,
                                  const BottleneckQueue& queue) const noexcept {
  const auto remaining = bursts_.remaining_bytes();
  if (!remaining) return false;
  const auto bytes = static_cast<double>(*remaining);
  const double stays_ns = rounds.rtt_ns() - rounds.up_ns() + path.drain_ns(queue);
  const auto in_flight = static_cast<double>(bursts_.in_flight_bytes());
  return bytes <= ns * path.bytes_per_ns && bytes * stays_ns <= kGrowth * in_flight * ns;
}

bool HoldPhase::move_on(const WindowPath& path, const FlowRounds& rounds,
                        const BottleneckQueue& queue, Time now) noexcept {
  if (phase_ == Phase::kHolding) {
    const bool over =
        !bursts_.any_open() ||
        bursts_end_within(ahead_ns(rounds.up_ns(), rounds.rtt_ns(), path.drain_ns(queue)), path,
                          rounds, queue);
    if (!over) return false;
    phase_ = Phase::kReleasing;
    released_at_ = now;
    return true;
  }
  if (phase_ == Phase::kReleasing &&
      now - released_at_ >= round_trips(kRelease_rtts + kSettle_rtts, rounds.rtt_ns()))
    phase_ = Phase::kStanding;
  return false;
}

bool HoldPhase::expects_bursts(Time now) const noexcept {
  return announced_at_ && now - *announced_at_ < kBurstMemory;
}

bool HoldPhase::holds_on(const WindowFlow& f, const WindowPath& path, const FlowRounds& rounds,
                         const BottleneckQueue& queue) const noexcept {
  if (phase_ != Phase::kReleasing || f.held_bytes == 0 || !bursts_.any_open()) return false;
  const auto up_ns = static_cast<double>(f.up->count());
  return !bursts_.any_of_unknown_length() &&
         !bursts_end_within(ahead_ns(up_ns, path.rtt_ns(f), path.drain_ns(queue)), path, rounds,
                            queue);
}

bool HoldPhase::opens(const WindowFlow& f, double own_rtt_ns, Time now) const noexcept {
  if (f.held_bytes == 0 || phase_ == Phase::kHolding) return false;
  if (phase_ == Phase::kReleasing) return true;
  return opening_for(f, now) < round_trips(kRelease_rtts + kSettle_rtts, own_rtt_ns);
}

}  // namespace outrider
