#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "common/core/figure.h"
#include "common/core/units.h"

namespace outrider::lab {

/// Takes the place of a link's name where several are taken together.
inline constexpr const char* kOtherLinks = "others";

/// The figures of one link in one direction, which is a port of a switch with all its queues; or
/// the sums over several links.
/// Identity: arrived_packets == packets + drops + what waited at the end of the run.
struct LinkReport {
  std::string tier;         ///< the kinds of its ends, "leaf to spine"; see links_of()
  std::string link;         ///< its port, "leaf_0.to_spine_1", or kOtherLinks
  std::uint64_t links = 1;  ///< that are taken together here
  std::uint64_t bits_per_second = 0;
  std::uint64_t arrived_packets = 0;
  std::uint64_t packets = 0;     ///< sent
  std::uint64_t bytes = 0;       ///< of these frames, without FCS
  std::uint64_t wire_bytes = 0;  ///< the same as the rate counts them: with gaps at layer 1
  std::uint64_t marks = 0;       ///< packets given CE
  std::uint64_t drops = 0;       ///< packets

  // What records of bursts say. All are 0 where the port keeps none.
  std::uint64_t bursts = 0;  ///< of measured iterations, one a worker, whose records are here
  std::uint64_t bursts_not_recorded = 0;
  std::uint64_t start_packets = 0;             ///< sum over bursts of what the first packet found
  std::uint64_t start_background_packets = 0;  ///< the background in it
  std::uint64_t start_packets_max = 0;
  std::uint64_t burst_sojourn_ns = 0;  ///< waiting times of all packets of all bursts, summed
  std::uint64_t max_packets = 0;       ///< largest occupancy of one of its queues
  std::int64_t watched_ns = 0;         ///< since the begin of the run, for which max_packets holds
};

/// A tier: all links between the same kinds of ends.
struct LinkTier {
  LinkReport all;            ///< sums; `link` is empty
  LinkReport busiest;        ///< the one with the largest utilisation, the first of several
  LinkReport longest_wait;   ///< the one in which packets of bursts waited longest
  std::uint64_t joined = 0;  ///< links that have no line of their own
};

/// The bytes that a link has sent in each slice of the run, as its rate counts them.
struct LinkSeries {
  std::string tier;
  std::string link;
  std::uint64_t links = 1;
  std::uint64_t bits_per_second = 0;
  std::vector<std::uint64_t> wire_bytes;
};

/// The link in which the packets of a job's bursts waited longest, all taken together.
struct JobLink {
  std::uint32_t job = 0;
  std::string link;
  std::uint64_t bursts = 0;  ///< as in LinkReport, of this job
  std::uint64_t start_packets = 0;
  std::uint64_t start_background_packets = 0;
  std::uint64_t burst_sojourn_ns = 0;
};

/// The results of each link of a run.
struct LinkResults {
  std::int64_t span_ns = 0;   ///< the whole run, over which utilisation is taken
  std::int64_t slice_ns = 0;  ///< of the series; the last slice may be shorter; 0: no series
  std::vector<LinkTier> tiers;
  std::vector<LinkReport> links;  ///< tier by tier, in the order of the configuration
  std::vector<LinkSeries> series;
  std::vector<JobLink> jobs;  ///< of jobs whose bursts have records
};

/// The bytes that each port of a network has sent by the end of each slice of the run.
struct LinkSlices {
  std::int64_t slice_ns = 0;        ///< the last slice may be shorter; 0: none was taken
  std::uint64_t ports = 0;          ///< of the switches, in the order of the configuration
  std::vector<std::uint64_t> sent;  ///< [slices][ports], since the begin of the run [wire bytes]
};

/// Returns the bytes that a rate counts for a packet beside those of its frame.
[[nodiscard]] constexpr std::uint64_t overhead_bytes(RateLayer layer) noexcept {
  return layer == RateLayer::kL1 ? kL1OverheadBytes : 0;
}

/// Returns the share of the links' capacity over `span_ns` that was used.
[[nodiscard]] inline double utilisation(std::uint64_t wire_bytes, std::uint64_t bits_per_second,
                                        std::int64_t span_ns) noexcept {
  return static_cast<double>(wire_bytes) * 8e9 /
         (static_cast<double>(bits_per_second) * static_cast<double>(span_ns));
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, LinkReport>
void fields(V& v, R& r) {
  v.value(Described{"tier", "kinds of its ends: leaf to spine"}, r.tier);
  v.value(Described{"link", "its port, SWITCH.PORT, or others"}, r.link);
  v.value(Described{"links", "that are taken together in this row"}, r.links);
  v.value("bits_per_second", r.bits_per_second);
  v.value("arrived_packets", r.arrived_packets);
  v.value(Described{"packets", "sent"}, r.packets);
  v.value(Described{"bytes", "of the frames that were sent, without FCS"}, r.bytes);
  v.value(Described{"wire_bytes", "the same as the rate counts them"}, r.wire_bytes);
  v.value(Described{"marks", "packets given CE"}, r.marks);
  v.value(Described{"drops", "packets"}, r.drops);
  v.value(Described{"bursts", "of measured iterations whose records are here, one a worker"},
          r.bursts);
  v.value(Described{"bursts_not_recorded", "for lack of room"}, r.bursts_not_recorded);
  v.value(Described{"start_packets_sum", "that the first packets of bursts found, over all bursts"},
          r.start_packets);
  v.value(Described{"start_background_packets_sum", "the background in it"},
          r.start_background_packets);
  v.value("start_packets_max", r.start_packets_max);
  v.value(Described{"burst_sojourn_sum_ns", "over all packets of all bursts"}, r.burst_sojourn_ns);
  v.value(Described{"max_packets", "largest occupancy of one of its queues"}, r.max_packets);
  v.value(Described{"watched_ns", "time since the begin of the run for which max_packets holds"},
          r.watched_ns);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, LinkTier>
void fields(V& v, R& r) {
  v.value("all", r.all);
  v.value("busiest", r.busiest);
  v.value("longest_wait", r.longest_wait);
  v.value("joined", r.joined);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, LinkSeries>
void fields(V& v, R& r) {
  v.value("tier", r.tier);
  v.value("link", r.link);
  v.value("links", r.links);
  v.value("bits_per_second", r.bits_per_second);
  v.value("wire_bytes", r.wire_bytes);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, JobLink>
void fields(V& v, R& r) {
  v.value("job", r.job);
  v.value("link", r.link);
  v.value("bursts", r.bursts);
  v.value("start_packets_sum", r.start_packets);
  v.value("start_background_packets_sum", r.start_background_packets);
  v.value("burst_sojourn_sum_ns", r.burst_sojourn_ns);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, LinkResults>
void fields(V& v, R& r) {
  v.value("span_ns", r.span_ns);
  v.value("slice_ns", r.slice_ns);
  v.value("tiers", r.tiers);
  v.value("links", r.links);
  v.value("series", r.series);
  v.value("jobs", r.jobs);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, LinkSlices>
void fields(V& v, R& r) {
  v.value("slice_ns", r.slice_ns);
  v.value("ports", r.ports);
  v.value("sent", r.sent);
}

}  // namespace outrider::lab
