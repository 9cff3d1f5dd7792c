#include "trafficgen/workload/signal_faults.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "common/config/toml_text.h"

namespace outrider {

namespace {

constexpr std::uint64_t kMaxCopies = 100;
constexpr double kMaxForged_per_second = 1e6;
/// What goes wrong with an announcement, and gaps between forged STARTs; nothing else draws
/// for these.
constexpr auto kFaultPurpose = static_cast<RandomPurpose>(0x5167'FA17);
constexpr auto kForgedPurpose = static_cast<RandomPurpose>(0x5167'F0E6);
constexpr Duration kShortestGap{1};  ///< a timer that is due at once would never end

std::string shown(double v) { return to_toml_text(ConfigValue(v)); }

/// A share of STARTs that are shifted, and by how much.
void check_shift(const Checks& at, double share, std::string_view by_key, Duration by) {
  if (at.not_negative(by_key, by) && share > 0 && by == Duration::zero())
    at.fault(by_key, "must be above 0s: the share that it applies to is above 0");
}

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

void check(const Checks& at, const SignalFaultsConfig& f, bool announces, bool ahead) {
  for (const auto& [key, share] : {std::pair<std::string_view, double>{"lost", f.lost},
                                   {"late", f.late},
                                   {"early", f.early},
                                   {"duplicated", f.duplicated}}) {
    if (!at.in_interval(key, share, 0, 1, true) || share == 0) continue;
    at.require(announces, key, shown(share),
               "needs lead_source \"wait\" or \"overlap\": no START is sent with \"none\"");
  }
  if (announces && !ahead && f.early > 0)
    at.fault("early", shown(f.early),
             "needs lead_source \"overlap\": with \"wait\" START leaves when gradients are ready, "
             "which nobody knows before");
  at.require(f.late + f.early <= 1, "early", shown(f.early),
             "must not be above 1 together with late, " + shown(f.late));
  check_shift(at, f.late, "late_by", f.late_by);
  check_shift(at, f.early, "early_by", f.early_by);
  at.in_range("copies", f.copies, 1, kMaxCopies);
  at.not_negative("copy_gap", f.copy_gap);
  at.in_interval("forged_per_second", f.forged_per_second, 0, kMaxForged_per_second, true);
}

}  // namespace outrider
