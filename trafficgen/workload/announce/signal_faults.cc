#include "trafficgen/workload/announce/signal_faults.h"

#include <algorithm>

namespace outrider::tg {

namespace {

/// Purposes of the draws for faults of announcements and for gaps between forged and replayed
/// STARTs. Nothing else draws with them.
constexpr auto kFaultPurpose = static_cast<RandomPurpose>(0x5167'FA17);
constexpr auto kRepeatPurpose = static_cast<RandomPurpose>(0x5167'4E9E);
constexpr auto kForgedPurpose = static_cast<RandomPurpose>(0x5167'F0E6);
constexpr auto kReplayedPurpose = static_cast<RandomPurpose>(0x5167'4E94);
constexpr Duration kShortestGap{1};  ///< a zero gap would make a timer fire for ever

}  // namespace

RandomStream SignalFaults::stream(std::uint32_t worker, std::uint64_t n,
                                  RandomPurpose purpose) const noexcept {
  return {setup_.seed + (n << 32), (std::uint32_t{setup_.job} << 16) | worker, purpose};
}

/// Every announcement makes its three draws, whatever the rates are. Low draws make it late and
/// high draws early, so that both are nested with one draw.
SignalFault SignalFaults::of(std::uint32_t worker, std::uint32_t iteration) const noexcept {
  RandomStream draws =
      stream(worker, std::uint64_t{setup_.first_iteration} + iteration, kFaultPurpose);
  const double lost = draws.uniform(), shifted = draws.uniform(), duplicated = draws.uniform();
  if (lost < config_.lost) return {.lost = true};
  SignalFault fault;
  if (shifted < config_.late) fault.shift = config_.late_by;
  else if (1 - shifted <= config_.early) fault.shift = -config_.early_by;
  if (duplicated < config_.duplicated) fault.copies = config_.copies;
  return fault;
}

bool SignalFaults::loses_repeat(std::uint32_t worker, std::uint32_t iteration,
                                std::uint32_t n) const noexcept {
  const std::uint64_t drawn_iteration = std::uint64_t{setup_.first_iteration} + iteration;
  return stream(worker, drawn_iteration * kMostRepeats + n, kRepeatPurpose).uniform() <
         config_.lost;
}

Duration SignalFaults::gap(std::uint32_t worker, std::uint64_t n, RandomPurpose purpose,
                           double per_second) const noexcept {
  RandomStream draws = stream(worker, n, purpose);
  return std::max(from_seconds(draws.exponential(1 / per_second)), kShortestGap);
}

Duration SignalFaults::forged_gap(std::uint32_t worker, std::uint64_t n) const noexcept {
  return gap(worker, n, kForgedPurpose, config_.forged_per_second);
}

Duration SignalFaults::replayed_gap(std::uint32_t worker, std::uint64_t n) const noexcept {
  return gap(worker, n, kReplayedPurpose, config_.replayed_per_second);
}

}  // namespace outrider::tg
