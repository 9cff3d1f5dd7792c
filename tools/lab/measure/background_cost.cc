#include "tools/lab/measure/background_cost.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <vector>

#include "tools/lab/measure/metrics.h"
#include "tools/lab/measure/metrics_iterations.h"
#include "tools/lab/measure/metrics_series.h"
#include "tools/lab/measure/references.h"

namespace outrider::lab {

namespace {

struct Interval {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

using IterationKey = std::pair<std::uint16_t, std::uint32_t>;

/// Sums over some intervals: payload delivered and capacity left idle.
struct Tally {
  double background_bytes = 0;
  double ddl_bytes = 0;
  double idle_bytes = 0;
};

std::int64_t longest_lead_ns(const Case& definition, const std::vector<IterationBursts>& pushes) {
  std::int64_t lead = 0;
  for (const auto& job : definition.traffic.jobs)
    if (job.announce.lead_source == tg::LeadSource::kOverlap)
      lead = std::max(lead, job.announce.lead.count());
  for (const auto& it : pushes)
    if (it.due_ns != tg::kNotYet_ns) lead = std::max(lead, it.due_ns - it.announced_ns);
  return lead;
}

bool on_fixed_schedule(const Case& definition) {
  const auto& jobs = definition.traffic.jobs;
  return !jobs.empty() && std::ranges::all_of(jobs, [](const tg::JobConfig& job) {
    return job.schedule == tg::Schedule::kFixed;
  });
}

/// Returns what left by the port of a queue, by all its queues, and how long that took.
std::vector<sw::QueueBin> bins_of_port(const sw::SwitchReport& switches,
                                       const sw::QueueReport& queue) {
  std::vector<sw::QueueBin> sums;
  for (const sw::QueueReport& q : switches.queues) {
    if (q.switch_name != queue.switch_name || q.port_name != queue.port_name) continue;
    if (sums.size() < q.bins.size()) sums.resize(q.bins.size());
    for (std::size_t i = 0; i < q.bins.size(); ++i) {
      sums[i].busy_ns += q.bins[i].busy_ns;
      for (std::size_t c = 0; c < kTrafficClasses; ++c)
        sums[i].bytes.values[c] += q.bins[i].bytes.values[c];
    }
  }
  return sums;
}

Tally tally(const CostObservation& o, const std::vector<Interval>& intervals) {
  Tally t;
  for (const auto& i : intervals) {
    t.background_bytes += o.background.between(i.from, i.to);
    t.ddl_bytes += o.ddl.between(i.from + o.offset_ns, i.to + o.offset_ns) * o.payload_share;
    const double busy = o.busy.between(i.from + o.offset_ns, i.to + o.offset_ns);
    t.idle_bytes += (static_cast<double>(i.to - i.from) - busy) * o.bytes_per_ns;
  }
  if (o.busy.empty()) t.ddl_bytes = t.idle_bytes = kNotDefined;
  return t;
}

void compare(const Tally& reference, const Tally& own, BackgroundCost& cost) {
  cost.reference_bytes = reference.background_bytes;
  cost.lost_bytes = reference.background_bytes - own.background_bytes;
  if (reference.background_bytes > 0)
    cost.lost_fraction = cost.lost_bytes / reference.background_bytes;
  cost.transfer_bytes = own.ddl_bytes - reference.ddl_bytes;
  cost.waste_bytes = own.idle_bytes - reference.idle_bytes;
  cost.unexplained_bytes = cost.lost_bytes - cost.transfer_bytes - cost.waste_bytes;
}

// -- fixed schedule

/// The window [due - lead, due + length] of an iteration, for all cases of a point. It is shorter
/// where the next iteration's window begins earlier.
struct Window {
  std::int64_t lead_ns = 0;
  std::int64_t length_ns = 0;
};

/// An iteration's windows in two runs.
struct WindowPair {
  std::int64_t length_ns = 0;  ///< from due to the end, in both
  Interval reference{};
  Interval own{};
};

/// Returns the longest time from due to the last delivery of a push.
std::int64_t slowest_ns(const CostObservation& o) {
  std::int64_t slowest = 0;
  for (const auto& it : o.pushes)
    if (it.complete && it.due_ns != tg::kNotYet_ns)
      slowest = std::max(slowest, it.delivered_ns - it.due_ns);
  return slowest;
}

/// Returns the window of a point. T is the cases' cost_window, or 10 base RTTs longer than the
/// slowest burst, so that the background's recovery counts.
Window common_window(const std::vector<const CostObservation*>& runs) {
  Window w;
  std::int64_t slowest = 0, rtt = 0, asked = 0;
  for (const CostObservation* o : runs) {
    w.lead_ns = std::max(w.lead_ns, o->lead_ns);
    slowest = std::max(slowest, slowest_ns(*o));
    rtt = std::max(rtt, std::int64_t{o->definition->base_rtt.count()});
    asked = std::max(asked, std::int64_t{o->definition->cost_window.count()});
  }
  w.length_ns = asked > 0 ? asked : slowest + 10 * rtt;
  return w;
}

/// An iteration that was due.
struct DueIteration {
  std::int64_t due_ns = 0;
  /// Until the window of the job's next iteration begins. An iteration that starts late, because
  /// the one before it was not over, leaves the next one's schedule alone.
  std::int64_t room_ns = std::numeric_limits<std::int64_t>::max();
};

std::map<IterationKey, DueIteration> due_iterations(const CostObservation& o, const Window& w) {
  std::map<IterationKey, DueIteration> all;
  for (const auto& it : o.pushes)
    if (it.due_ns != tg::kNotYet_ns) all[{it.job, it.iteration}] = {.due_ns = it.due_ns};
  for (auto it = all.begin(); it != all.end(); ++it)
    if (const auto next = std::next(it); next != all.end() && next->first.first == it->first.first)
      it->second.room_ns = next->second.due_ns - w.lead_ns - it->second.due_ns;
  return all;
}

/// Returns the windows of the iterations that both runs cover to the end. A window is cut to the
/// same length in both, so that only what an iteration's own windows cannot hold is cut: one late
/// iteration shortens one pair.
std::map<IterationKey, WindowPair> paired_windows(const CostObservation& reference,
                                                  const CostObservation& own, const Window& w) {
  const auto of_reference = due_iterations(reference, w);
  std::map<IterationKey, WindowPair> pairs;
  for (const auto& [key, mine] : due_iterations(own, w)) {
    const auto other = of_reference.find(key);
    if (other == of_reference.end()) continue;
    const std::int64_t length = std::min({w.length_ns, mine.room_ns, other->second.room_ns});
    const auto window = [&](std::int64_t due) {
      return Interval{.from = std::max<std::int64_t>(due - w.lead_ns, 0), .to = due + length};
    };
    const WindowPair pair{
        .length_ns = length, .reference = window(other->second.due_ns), .own = window(mine.due_ns)};
    if (length > 0 && pair.reference.to <= reference.covered_ns && pair.own.to <= own.covered_ns)
      pairs[key] = pair;
  }
  return pairs;
}

/// Returns the union of intervals. Windows of several jobs may overlap, and no byte may count
/// twice.
std::vector<Interval> merged(std::vector<Interval> intervals) {
  std::ranges::sort(intervals, {}, &Interval::from);
  std::vector<Interval> out;
  for (const auto& i : intervals) {
    if (!out.empty() && i.from <= out.back().to) out.back().to = std::max(out.back().to, i.to);
    else out.push_back(i);
  }
  return out;
}

/// Says whether a burst was longer than its window, or may have been.
bool exceeds(const CostObservation& o, const std::map<IterationKey, WindowPair>& pairs,
             Interval WindowPair::*of_run) {
  return std::ranges::any_of(o.pushes, [&](const IterationBursts& it) {
    const auto pair = pairs.find({it.job, it.iteration});
    return pair != pairs.end() &&
           (it.complete ? it.delivered_ns : o.end_ns) > (pair->second.*of_run).to;
  });
}

BackgroundCost windowed_cost(const CostObservation& reference, const CostObservation& own,
                             const Window& window) {
  const auto pairs = paired_windows(reference, own, window);
  BackgroundCost cost;
  cost.lead_seconds = static_cast<double>(window.lead_ns) / 1e9;
  cost.windows = pairs.size();
  cost.windows_left_out = std::max(own.pushes.size(), reference.pushes.size()) - pairs.size();
  cost.window_exceeded =
      exceeds(own, pairs, &WindowPair::own) || exceeds(reference, pairs, &WindowPair::reference);
  if (pairs.empty()) return cost;
  cost.basis = CostBasis::kWindows;
  std::vector<Interval> of_reference, of_own;
  std::int64_t longest = 0;
  for (const auto& [key, pair] : pairs) {
    longest = std::max(longest, pair.length_ns);
    of_reference.push_back(pair.reference);
    of_own.push_back(pair.own);
  }
  cost.window_seconds = static_cast<double>(longest) / 1e9;
  compare(tally(reference, merged(of_reference)), tally(own, merged(of_own)), cost);
  return cost;
}

// -- closed loop

/// Returns the measured span, as far as it is covered.
Interval span_of(const CostObservation& o) {
  const auto [from, end] = o.measured_ns;
  return {.from = from, .to = std::min(end, o.covered_ns)};
}

/// Returns the tally over the measured span, scaled to another duration.
Tally rate_over_run(const CostObservation& o, double scale) {
  Tally t = tally(o, {span_of(o)});
  t.background_bytes *= scale;
  t.ddl_bytes *= scale;
  t.idle_bytes *= scale;
  return t;
}

BackgroundCost whole_run_cost(const CostObservation& reference, const CostObservation& own) {
  BackgroundCost cost;
  const Interval of_reference = span_of(reference), of_own = span_of(own);
  if (of_reference.to <= of_reference.from || of_own.to <= of_own.from) return cost;
  cost.time_scale = static_cast<double>(of_reference.to - of_reference.from) /
                    static_cast<double>(of_own.to - of_own.from);
  cost.basis = CostBasis::kWholeRun;
  compare(rate_over_run(reference, 1), rate_over_run(own, cost.time_scale), cost);
  // Over next to nothing it would be any number.
  if (cost.lost_bytes >= kLeastLost * cost.reference_bytes && cost.lost_bytes > 0)
    cost.ddl_bytes_gained_per_background_byte_lost = cost.transfer_bytes / cost.lost_bytes;
  return cost;
}

}  // namespace

CostObservation observe_cost(const Case& definition, Runtime runtime, const RunResult& result) {
  const tg::GeneratorReport& traffic = result.traffic;
  const sw::SwitchReport& switches = result.switches;
  const sw::QueueReport* queue = find_queue(switches, definition.measured_queue);
  CostObservation o{.definition = &definition,
                    .fixed_schedule = on_fixed_schedule(definition),
                    .payload_share = payload_share(definition),
                    .offset_ns = clock_offset_ns(runtime, queue, traffic),
                    .end_ns = traffic.end_ns,
                    .covered_ns = traffic.end_ns,
                    .measured_ns = measured_span_ns(definition, traffic),
                    .pushes = iterations_of(definition, traffic, BurstDirection::kPush)};
  o.lead_ns = longest_lead_ns(definition, o.pushes);
  for (auto& it : o.pushes) it.bursts = {};  // they are part of the reports, which may go
  // A series without traffic at the end has no bins there. A series with max_bins bins may have
  // been cut off.
  if (traffic.bins.size() >= definition.traffic.max_bins)
    o.covered_ns =
        std::min(o.covered_ns, static_cast<std::int64_t>(traffic.bins.size()) * traffic.bin_ns);
  o.background = RunningTotal(traffic.bins, traffic.bin_ns, [](const tg::GoodputBin& b) {
    return b.delivered_bytes[TrafficClass::kBackground];
  });
  if (queue == nullptr || queue->bins.empty()) return o;
  const std::vector<sw::QueueBin> bins = bins_of_port(switches, *queue);
  o.busy = RunningTotal(bins, switches.bin_ns, [](const sw::QueueBin& b) { return b.busy_ns; });
  o.ddl = RunningTotal(bins, switches.bin_ns,
                       [](const sw::QueueBin& b) { return b.bytes[TrafficClass::kDdl]; });
  o.bytes_per_ns = static_cast<double>(queue->drain_bits_per_second) / 8e9;
  std::int64_t switch_end = switches.end_ns;
  if (bins.size() >= definition.switches.max_bins)
    switch_end = static_cast<std::int64_t>(bins.size()) * switches.bin_ns;
  o.covered_ns = std::min(o.covered_ns, switch_end - o.offset_ns);
  return o;
}

std::vector<BackgroundCost> background_costs(std::span<const CostObservation* const> runs,
                                             const CasePoints& points) {
  std::map<std::size_t, std::vector<const CostObservation*>> members;
  for (std::size_t i = 0; i < runs.size(); ++i) members[points.point[i]].push_back(runs[i]);
  std::map<std::size_t, Window> windows;
  for (const auto& [point, compared] : members) windows[point] = common_window(compared);

  std::vector<BackgroundCost> costs(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::size_t baseline = points.baseline[i];
    if (baseline == runs.size()) continue;
    const CostObservation &own = *runs[i], &reference = *runs[baseline];
    if (own.background.empty() || reference.background.empty()) continue;
    costs[i] = own.fixed_schedule && reference.fixed_schedule
                   ? windowed_cost(reference, own, windows[points.point[i]])
                   : whole_run_cost(reference, own);
  }
  return costs;
}

}  // namespace outrider::lab
