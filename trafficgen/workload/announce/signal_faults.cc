#include "trafficgen/workload/announce/signal_faults.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "common/config/toml_text.h"

namespace outrider::tg {

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
    if (share == 0) continue;
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
}

void describe(Settings& v, SignalFaultsConfig& c) {
  v.share("lost", c.lost,
          {.range = reals(0, 1), .help = "share of announcements that never leave"});
  v.share("late", c.late, {.range = reals(0, 1), .help = "share that leaves `late_by` too late"});
  v.duration("late_by", c.late_by,
             {.range = durations_from(Duration::zero()),
              .accepts = "above 0 with `late`; with `fixed` shorter than `period`",
              .help = "how much too late"});
  v.share("early", c.early,
          {.range = reals(0, 1),
           .accepts = "needs `overlap`; at most 1 with `late`",
           .help = "share that leaves `early_by` too early"});
  v.duration("early_by", c.early_by,
             {.range = durations_from(Duration::zero()),
              .accepts = "above 0 with `early`; with `lead` no longer than what `lead` may be",
              .help = "how much too early"});
  v.share("duplicated", c.duplicated,
          {.range = reals(0, 1), .help = "share that leaves `copies` times more"});
  v.value("copies", c.copies, {.range = integers(1, kMaxCopies), .help = "how often"});
  v.duration("copy_gap", c.copy_gap,
             {.range = durations_from(Duration::zero()),
              .accepts = "times `copies` shorter than `period`",
              .help = "how far apart"});
  v.value("forged_per_second", c.forged_per_second,
          {.range = reals(0, kMaxForged_per_second),
           .help = "STARTs of bursts that never come, of each worker"});
}

}  // namespace outrider::tg
