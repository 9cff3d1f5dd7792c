#include "tools/lab/simulation/link_results.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

namespace outrider::lab {
namespace {

/// Returns a switch's name without its number: "leaf" of "leaf_12".
std::string kind_of(const std::string& name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  if (end == name.npos || end + 1 == name.size() || name[end] != '_' || end == 0) return name;
  return name.substr(0, end);
}

/// Returns the kind of the switch behind each port that has one, by "switch.port".
std::map<std::string, std::string, std::less<>> kinds_behind(const sw::SwitchProcessConfig& c) {
  const auto switch_of = [](const std::string& port) { return port.substr(0, port.find('.')); };
  std::map<std::string, std::string, std::less<>> kinds;
  for (const auto& link : c.links) {
    kinds[link.a] = kind_of(switch_of(link.b));
    kinds[link.b] = kind_of(switch_of(link.a));
  }
  return kinds;
}

double busy(const LinkReport& link) noexcept {
  return static_cast<double>(link.wire_bytes) / static_cast<double>(link.bits_per_second);
}

template <class Counts>
std::uint64_t sum_of(const PerClass<Counts>& by_class) {
  std::uint64_t n = 0;
  for (const Counts& counts : by_class.values) {
    if constexpr (std::is_integral_v<Counts>) n += counts;
    else n = std::accumulate(counts.begin(), counts.end(), n);
  }
  return n;
}

void add_records(const sw::QueueReport& queue, std::uint32_t skip_iterations, std::int64_t bins_ns,
                 LinkReport& link) {
  link.bursts_not_recorded += queue.bursts_not_recorded;
  for (const auto& burst : queue.bursts) {
    link.burst_sojourn_ns += burst.sojourn_ns;
    link.max_packets = std::max<std::uint64_t>(link.max_packets, burst.max_packets);
    if (burst.identity.iteration < skip_iterations) continue;
    const std::uint64_t found = sum_of(burst.start_packets);
    ++link.bursts;
    link.start_packets += found;
    link.start_background_packets += burst.start_packets[TrafficClass::kBackground];
    link.start_packets_max = std::max(link.start_packets_max, found);
  }
  for (const auto& bin : queue.bins)
    link.max_packets = std::max<std::uint64_t>(link.max_packets, bin.max_packets);
  link.watched_ns = std::max(link.watched_ns, bins_ns);
}

void add_queue(const sw::QueueReport& queue, RateLayer layer, LinkReport& link) {
  const std::uint64_t packets = sum_of(queue.transmitted), bytes = sum_of(queue.transmitted_bytes);
  link.arrived_packets += sum_of(queue.arrived);
  link.packets += packets;
  link.bytes += bytes;
  link.wire_bytes += bytes + packets * overhead_bytes(layer);
  link.marks += sum_of(queue.marks);
  link.drops += sum_of(queue.drops);
}

/// Returns the time from the begin of the run for which a queue has bins. Bins end with the last
/// packet, unless there was no room for more.
std::int64_t watched_ns(const Case& c, const sw::SwitchReport& report,
                        const sw::QueueReport& queue) {
  if (queue.bins.size() < c.switches.max_bins) return report.end_ns;
  return std::min(report.end_ns, static_cast<std::int64_t>(queue.bins.size()) * report.bin_ns);
}

/// Adds what one link did to another's. Sums of links that watched for different times hold for the
/// shortest.
void join(LinkReport& sum, const LinkReport& one) {
  sum.watched_ns = sum.links == 0 ? one.watched_ns : std::min(sum.watched_ns, one.watched_ns);
  sum.tier = one.tier;
  sum.links += one.links;
  sum.bits_per_second += one.bits_per_second;
  sum.arrived_packets += one.arrived_packets;
  sum.packets += one.packets;
  sum.bytes += one.bytes;
  sum.wire_bytes += one.wire_bytes;
  sum.marks += one.marks;
  sum.drops += one.drops;
  sum.bursts += one.bursts;
  sum.bursts_not_recorded += one.bursts_not_recorded;
  sum.start_packets += one.start_packets;
  sum.start_background_packets += one.start_background_packets;
  sum.start_packets_max = std::max(sum.start_packets_max, one.start_packets_max);
  sum.burst_sojourn_ns += one.burst_sojourn_ns;
  sum.max_packets = std::max(sum.max_packets, one.max_packets);
}

/// All links of a network, before any is left out.
struct AllLinks {
  std::vector<LinkReport> links;  ///< in the order of the configuration, as LinkSlices has them
  std::map<std::uint32_t, JobLink> worst;  ///< by job
};

/// Notes for each job whether its bursts waited longer at this link than at those before.
void note_jobs(std::span<const sw::QueueReport> queues, std::uint32_t skip_iterations,
               const LinkReport& link, std::map<std::uint32_t, JobLink>& worst) {
  std::map<std::uint32_t, JobLink> here;
  for (const auto& queue : queues)
    for (const auto& burst : queue.bursts) {
      JobLink& job = here[burst.identity.job];
      job.burst_sojourn_ns += burst.sojourn_ns;
      if (burst.identity.iteration < skip_iterations) continue;
      ++job.bursts;
      job.start_packets += sum_of(burst.start_packets);
      job.start_background_packets += burst.start_packets[TrafficClass::kBackground];
    }
  for (auto& [index, job] : here) {
    job.job = index;
    job.link = link.link;
    const auto found = worst.find(index);
    if (found == worst.end() || job.burst_sojourn_ns > found->second.burst_sojourn_ns)
      worst[index] = job;
  }
}

AllLinks all_links(const Case& c, const sw::SwitchReport& report) {
  AllLinks all;
  const auto kinds = kinds_behind(c.switches);
  auto rest = std::span(report.queues);
  for (const auto& sw : c.switches.switches)
    for (const auto& port : sw.ports) {
      LinkReport link{.tier = {},
                      .link = sw.name + '.' + port.name,
                      .bits_per_second = port.drain_rate.bits_per_second};
      const auto behind = kinds.find(link.link);
      link.tier = kind_of(sw.name) + " to " + (behind == kinds.end() ? "host" : behind->second);
      std::size_t queues = 0;
      for (; queues < rest.size() && rest[queues].port_name == port.name &&
             rest[queues].switch_name == sw.name;
           ++queues) {
        add_queue(rest[queues], port.rate_layer, link);
        if (port.record)
          add_records(rest[queues], c.skip_iterations, watched_ns(c, report, rest[queues]), link);
      }
      note_jobs(rest.first(queues), c.skip_iterations, link, all.worst);
      rest = rest.subspan(queues);
      all.links.push_back(std::move(link));
    }
  return all;
}

/// The links of a tier, as indices.
using Members = std::vector<std::size_t>;

/// Returns the tiers, those between switches first.
std::vector<Members> tiers_of(const std::vector<LinkReport>& links) {
  std::vector<Members> tiers;
  std::map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const auto [at, fresh] = index.try_emplace(links[i].tier, tiers.size());
    if (fresh) tiers.emplace_back();
    tiers[at->second].push_back(i);
  }
  std::stable_partition(tiers.begin(), tiers.end(), [&](const Members& tier) {
    return !links[tier.front()].tier.ends_with(" to host");
  });
  return tiers;
}

/// Returns the `most` links of a tier with the largest utilisation, in their order, then the rest.
std::pair<Members, Members> parted(const std::vector<LinkReport>& links, Members tier,
                                   std::size_t most) {
  std::ranges::stable_sort(
      tier, [&](std::size_t a, std::size_t b) { return busy(links[a]) > busy(links[b]); });
  const auto end = tier.begin() + static_cast<std::ptrdiff_t>(std::min(most, tier.size()));
  Members kept(tier.begin(), end), rest(end, tier.end());
  std::ranges::sort(kept);
  std::ranges::sort(rest);
  return {std::move(kept), std::move(rest)};
}

LinkReport joined(const std::vector<LinkReport>& links, const Members& members, const char* name) {
  LinkReport sum{.tier = {}, .link = name, .links = 0};
  for (const std::size_t i : members) join(sum, links[i]);
  return sum;
}

/// Returns what some links together sent in each slice.
LinkSeries series_of(const std::vector<LinkReport>& links, const Members& members,
                     const LinkSlices& slices, std::string name) {
  const LinkReport sum = joined(links, members, "");
  LinkSeries series{.tier = sum.tier,
                    .link = std::move(name),
                    .links = sum.links,
                    .bits_per_second = sum.bits_per_second,
                    .wire_bytes = {}};
  std::uint64_t before = 0;
  for (std::size_t row = 0; row < slices.sent.size(); row += slices.ports) {
    std::uint64_t sent = 0;
    for (const std::size_t i : members) sent += slices.sent[row + i];
    series.wire_bytes.push_back(sent - before);
    before = sent;
  }
  return series;
}

LinkTier totals_of(const std::vector<LinkReport>& links, const Members& tier) {
  LinkTier r{.all = joined(links, tier, ""),
             .busiest = links[tier.front()],
             .longest_wait = links[tier.front()]};
  for (const std::size_t i : tier) {
    if (busy(links[i]) > busy(r.busiest)) r.busiest = links[i];
    if (links[i].burst_sojourn_ns > r.longest_wait.burst_sojourn_ns) r.longest_wait = links[i];
  }
  return r;
}

}  // namespace

LinkResults links_of(const Case& c, const RunResult& run, const LinkLimits& limits) {
  AllLinks all = all_links(c, run.switches);
  LinkResults r;
  r.span_ns = run.switches.end_ns;
  const bool over_time = run.slices.slice_ns > 0 && run.slices.ports == all.links.size();
  if (over_time) r.slice_ns = run.slices.slice_ns;
  for (const Members& tier : tiers_of(all.links)) {
    r.tiers.push_back(totals_of(all.links, tier));
    const auto [kept, rest] = parted(all.links, tier, limits.links);
    r.tiers.back().joined = rest.size();
    for (const std::size_t i : kept) r.links.push_back(all.links[i]);
    if (!rest.empty()) r.links.push_back(joined(all.links, rest, kOtherLinks));
    if (!over_time) continue;
    const auto [shown, others] = parted(all.links, tier, limits.series);
    for (const std::size_t i : shown)
      r.series.push_back(series_of(all.links, {i}, run.slices, all.links[i].link));
    if (!others.empty()) r.series.push_back(series_of(all.links, others, run.slices, kOtherLinks));
  }
  for (auto& [index, job] : all.worst) r.jobs.push_back(std::move(job));
  return r;
}

}  // namespace outrider::lab
