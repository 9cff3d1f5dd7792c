#include "tools/lab/measure/background_floor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "common/core/units.h"
#include "tools/lab/measure/metrics.h"
#include "tools/lab/measure/metrics_iterations.h"
#include "tools/lab/measure/metrics_series.h"

namespace outrider::lab {

namespace {

constexpr std::int64_t kSpan_rtts = 10, kBefore_rtts = 20, kLongest_rtts = 200;
constexpr double kBack = 0.95;
constexpr std::uint32_t kFrameBytes = 14 + 1500;
constexpr double kFrameShare = static_cast<double>(wire_bytes(kFrameBytes)) / kFrameBytes;

/// The time from an iteration's first packet at the measured queue to its last, switch clock [ns].
struct Passage {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

using Passages = std::map<std::pair<std::uint16_t, std::uint32_t>, Passage>;

Passages passages(const sw::QueueReport& queue) {
  Passages out;
  for (const auto& r : queue.bursts) {
    if (r.identity.direction != BurstDirection::kPush) continue;
    const auto [it, added] = out.try_emplace({r.identity.job, r.identity.iteration},
                                             Passage{r.first_at_ns, r.last_at_ns});
    it->second.first = std::min(it->second.first, r.first_at_ns);
    it->second.last = std::max(it->second.last, r.last_at_ns);
  }
  return out;
}

void add_shares(const sw::QueueReport& queue, std::int64_t bin_ns, const Passage& p,
                std::int64_t rtt_ns, double floor, BackgroundFloor& out) {
  const std::int64_t from = (p.first + bin_ns - 1) / bin_ns;
  const std::int64_t to = std::min(p.last / bin_ns, static_cast<std::int64_t>(queue.bins.size()));
  const auto width = static_cast<double>(bin_ns) / 1e9;
  std::vector<double> used;
  for (std::int64_t i = from; i < to; ++i) {
    const auto& bytes = queue.bins[static_cast<std::size_t>(i)].bytes;
    used.push_back(static_cast<double>(bytes[TrafficClass::kBackground]) * kFrameShare * 8 /
                   static_cast<double>(queue.drain_bits_per_second));
    out.used_seconds += used.back();
    out.possible_seconds += width;
  }
  const auto span = static_cast<std::size_t>(std::max<std::int64_t>(
      std::llround(static_cast<double>(kSpan_rtts * rtt_ns) / static_cast<double>(bin_ns)), 1));
  if (used.size() < span) return;
  double sum = 0;
  double least = std::numeric_limits<double>::max();
  for (std::size_t i = 0; i < used.size(); ++i) {
    sum += used[i] - (i < span ? 0 : used[i - span]);
    if (i + 1 >= span) least = std::min(least, sum);
  }
  out.least_shares.push_back(least / (static_cast<double>(span) * width));
  out.below_floor.push_back(out.least_shares.back() < floor ? 1 : 0);
}

void add_return(const RunningTotal& delivered, const IterationBursts& it, std::int64_t rtt_ns,
                BackgroundFloor& out) {
  const std::int64_t span = kSpan_rtts * rtt_ns, end = it.delivered_ns;
  const auto goodput = [&](std::int64_t from, std::int64_t to) {
    return delivered.between(from, to) / static_cast<double>(to - from);
  };
  const double before = goodput(it.announced_ns - kBefore_rtts * rtt_ns, it.announced_ns);
  if (!(before > 0)) return;
  out.first_shares.push_back(goodput(end, end + span) / before);
  std::int64_t at = end;
  while (at < end + kLongest_rtts * rtt_ns && goodput(at, at + span) < kBack * before)
    at += std::max<std::int64_t>(rtt_ns / 10, 1);
  out.return_rtts.push_back(static_cast<double>(at - end) / static_cast<double>(rtt_ns));
}

}  // namespace

BackgroundFloor background_floor(const Case& definition, const RunResult& result) {
  BackgroundFloor out;
  const sw::QueueReport* queue = find_queue(result.switches, definition.measured_queue);
  const std::int64_t rtt_ns = definition.base_rtt.count(), bin_ns = result.switches.bin_ns;
  if (queue == nullptr || rtt_ns <= 0 || bin_ns <= 0 || queue->drain_bits_per_second == 0)
    return out;
  const RunningTotal delivered(
      result.traffic.bins, result.traffic.bin_ns,
      [](const tg::GoodputBin& b) { return b.delivered_bytes[TrafficClass::kBackground]; });
  const Passages at_queue = passages(*queue);
  const sw::SwitchPortConfig* port = find_port(definition);
  const double floor = port == nullptr ? 0 : port->regulation.window.floor;
  for (const auto& it : iterations_of(definition, result.traffic, BurstDirection::kPush)) {
    if (!it.complete || it.announced_ns == tg::kNotYet_ns) continue;
    if (const auto p = at_queue.find({it.job, it.iteration}); p != at_queue.end())
      add_shares(*queue, bin_ns, p->second, rtt_ns, floor, out);
    if (!delivered.empty()) add_return(delivered, it, rtt_ns, out);
  }
  return out;
}

}  // namespace outrider::lab
