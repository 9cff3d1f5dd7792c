#include "tools/lab/measure/metrics_dip.h"

#include <algorithm>

#include "tools/lab/measure/metrics_series.h"

namespace outrider::lab {

namespace {

constexpr double kRecoveredShare = 0.95;

/// The times around one iteration, generator clock [ns].
struct Surroundings {
  std::int64_t level_from = 0;
  std::int64_t from = 0;  ///< START or due
  std::int64_t due = 0;
  std::int64_t lowest_until = 0;
  std::int64_t until = 0;  ///< next iteration or the end
};

struct Dip {
  double level = 0;  ///< goodput before the iteration [bytes per window]
  double lowest = 0;
  std::int64_t recovered_at = tg::kNotYet_ns;
};

Dip find_dip(const RunningTotal& delivered, const Surroundings& s, std::int64_t window,
             std::int64_t step) {
  const auto in_window_until = [&](std::int64_t t) { return delivered.between(t - window, t); };
  Dip dip{.level = delivered.between(s.level_from, s.from) * static_cast<double>(window) /
                   static_cast<double>(s.from - s.level_from)};
  dip.lowest = dip.level;
  std::int64_t lowest_at = s.from;
  for (std::int64_t t = s.from; t <= s.lowest_until; t += step)
    if (const double now = in_window_until(t); now < dip.lowest) {
      dip.lowest = now;
      lowest_at = t;
    }
  for (std::int64_t t = lowest_at; t <= s.until; t += step)
    if (in_window_until(t) >= kRecoveredShare * dip.level) {
      dip.recovered_at = t;
      break;
    }
  return dip;
}

/// Returns the iterations of all jobs in order of time, without those that have no due time.
std::vector<const IterationBursts*> by_time(const std::vector<IterationBursts>& pushes) {
  std::vector<const IterationBursts*> ordered;
  for (const auto& it : pushes)
    if (it.due_ns != tg::kNotYet_ns) ordered.push_back(&it);
  std::ranges::stable_sort(ordered, {}, [](const IterationBursts* it) { return it->announced_ns; });
  return ordered;
}

}  // namespace

BackgroundDip background_dip(const std::vector<IterationBursts>& pushes, Duration base_rtt,
                             const tg::GeneratorReport& traffic) {
  BackgroundDip out;
  const RunningTotal delivered(traffic.bins, traffic.bin_ns, [](const tg::GoodputBin& b) {
    return b.delivered_bytes[TrafficClass::kBackground];
  });
  if (delivered.empty() || base_rtt <= Duration::zero()) return out;
  const std::int64_t window = std::max<std::int64_t>(10 * base_rtt.count(), traffic.bin_ns);
  const std::int64_t step = std::max<std::int64_t>(window / 10, 1);

  std::vector<double> share, recovery;
  const auto ordered = by_time(pushes);
  std::int64_t quiet_since = 0;  // when all bursts so far were delivered
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    const IterationBursts& it = *ordered[i];
    Surroundings s{.from = it.announced_ns,
                   .due = it.due_ns,
                   .until = i + 1 < ordered.size() ? ordered[i + 1]->announced_ns : traffic.end_ns};
    s.level_from = std::max(quiet_since, s.from - 10 * window);
    s.lowest_until = it.complete ? std::min(it.delivered_ns + window, s.until) : s.until;
    quiet_since = std::max(quiet_since, it.complete ? it.delivered_ns : s.until);
    if (s.from - s.level_from < window) continue;
    const Dip dip = find_dip(delivered, s, window, step);
    if (dip.level <= 0) continue;
    share.push_back(dip.lowest / dip.level);
    if (dip.recovered_at == tg::kNotYet_ns) ++out.not_recovered;
    else recovery.push_back(static_cast<double>(dip.recovered_at - s.due) / 1e9);
  }
  out.lowest_share = statistics_of(share);
  out.recovery_seconds = statistics_of(recovery);
  return out;
}

}  // namespace outrider::lab
