#include "trafficgen/workload/config/signal_faults_config.h"

#include <string>
#include <string_view>
#include <utility>

#include "common/config/toml_text.h"

namespace outrider::tg {

namespace {

constexpr std::uint64_t kMaxCopies = 100;
constexpr double kMaxForged_per_second = 1e6;
constexpr double kMaxReplayed_per_second = 1e6;

std::string shown(double v) { return to_toml_text(ConfigValue(v)); }

/// Checks the share of STARTs that are shifted, and by how much they are.
void check_shift(const Checks& at, double share, std::string_view by_key, Duration by) {
  if (at.not_negative(by_key, by) && share > 0 && by == Duration::zero())
    at.fault(by_key, "must be above 0s: the share that it applies to is above 0");
}

}  // namespace

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
  v.choice("forged_tag", c.forged_tag, kForgedTags,
           {.accepts = "`wrong` needs `signal_key`",
            .help = "what they carry: no tag, or a tag that is not by the job's key"});
  v.value("replayed_per_second", c.replayed_per_second,
          {.range = reals(0, kMaxReplayed_per_second),
           .accepts = "above 0 needs `signal_form = \"udp\"`",
           .help = "how often the last START of the worker's host leaves again, byte for byte"});
}

}  // namespace outrider::tg
