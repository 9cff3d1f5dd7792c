#include "tools/lab/measure/metrics_links.h"

#include "tools/lab/measure/metrics_series.h"

namespace outrider::lab {
namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? kNotDefined : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

LinkMetrics measure_links(const LinkResults& links) {
  LinkMetrics m{.span_seconds = to_seconds(links.span_ns)};
  for (const LinkTier& tier : links.tiers) {
    const LinkReport& all = tier.all;
    const LinkReport& busiest = tier.busiest;
    TierMetrics t{.tier = all.tier,
                  .links = all.links,
                  .joined = tier.joined,
                  .busiest = busiest.link,
                  .marks = all.marks,
                  .drops = all.drops,
                  .longest_wait = {}};
    if (links.span_ns > 0) {
      t.utilisation_mean = utilisation(all.wire_bytes, all.bits_per_second, links.span_ns);
      t.utilisation_max = utilisation(busiest.wire_bytes, busiest.bits_per_second, links.span_ns);
    }
    if (const LinkReport& worst = tier.longest_wait; worst.bursts != 0) {
      t.longest_wait = worst.link;
      t.worker_start_queue_packets_mean = share(worst.start_background_packets, worst.bursts);
      t.worker_start_queue_total_packets_mean = share(worst.start_packets, worst.bursts);
    }
    m.tiers.push_back(std::move(t));
  }
  return m;
}

}  // namespace outrider::lab
