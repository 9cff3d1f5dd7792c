#include "trafficgen/workload/announce/signal_faults.h"

#include <algorithm>

namespace outrider::tg {

namespace {

/// What goes wrong with an announcement, and gaps between forged STARTs; nothing else draws
/// for these.
constexpr auto kFaultPurpose = static_cast<RandomPurpose>(0x5167'FA17);
constexpr auto kForgedPurpose = static_cast<RandomPurpose>(0x5167'F0E6);
constexpr Duration kShortestGap{1};  ///< a timer that is due at once would never end

}  // namespace

RandomStream SignalFaults::stream(std::uint32_t worker, std::uint64_t n,
                                  RandomPurpose purpose) const noexcept {
  return {setup_.seed + (n << 32), (std::uint32_t{setup_.job} << 16) | worker, purpose};
}

/// Every announcement takes its three draws whatever the rates are. Late ones are drawn from
/// below and early ones from above, so that one draw makes either nested.
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

Duration SignalFaults::forged_gap(std::uint32_t worker, std::uint64_t n) const noexcept {
  RandomStream draws = stream(worker, n, kForgedPurpose);
  return std::max(from_seconds(draws.exponential(1 / config_.forged_per_second)), kShortestGap);
}

}  // namespace outrider::tg
