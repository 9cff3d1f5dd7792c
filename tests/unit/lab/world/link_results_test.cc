// Goal: the figures of links are those of the reports, computed by hand here, and what is left out
// of a large network is in a sum. Method: reports made by hand.
#include "tools/lab/simulation/link_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tools/lab/measure/metrics_links.h"
#include "tools/lab/simulation/link_sampler.h"

namespace outrider::link_results_test {
using namespace lab;
using testing::DoubleEq;
using testing::ElementsAre;
namespace {

using std::chrono::microseconds;

constexpr std::uint64_t kRate = 8'000'000'000;  // a byte a nanosecond

/// Two leaves under a spine, with a host at each leaf: ports 0 and 1 of each leaf lead to the spine
/// and to its host.
Case two_leaves() {
  Case c;
  c.link_results = c.link_series = true;
  c.skip_iterations = 1;
  const auto add = [&c](const char* name, std::initializer_list<const char*> ports) {
    auto& added = c.switches.switches.emplace_back();
    added.name = name;
    for (const char* port : ports) {
      auto& each = added.ports.emplace_back();
      each.name = port;
      each.drain_rate = {kRate};
      each.rate_layer = RateLayer::kL1;
      each.record = true;
    }
  };
  add("leaf_0", {"to_spine_0", "to_a"});
  add("leaf_1", {"to_spine_0", "to_b"});
  add("spine_0", {"to_leaf_0", "to_leaf_1"});
  c.switches.links = {{"leaf_0.to_spine_0", "spine_0.to_leaf_0"},
                      {"leaf_1.to_spine_0", "spine_0.to_leaf_1"}};
  c.switches.max_bins = 100;
  return c;
}

/// Returns the report of a run of 10 us in which port i has sent i + 1 packets of 76 bytes.
RunResult idle_run(const Case& c) {
  RunResult r;
  r.switches.end_ns = 10'000;
  r.switches.bin_ns = 1'000;
  std::uint64_t packets = 0;
  for (const auto& sw : c.switches.switches)
    for (const auto& port : sw.ports) {
      auto& queue = r.switches.queues.emplace_back();
      queue.switch_name = sw.name;
      queue.port_name = port.name;
      queue.drain_bits_per_second = kRate;
      ++packets;
      queue.arrived[TrafficClass::kDdl] = queue.transmitted[TrafficClass::kDdl] = packets;
      queue.transmitted_bytes[TrafficClass::kDdl] = 76 * packets;
    }
  return r;
}

sw::QueueBurstRecord burst(std::uint16_t job, std::uint32_t iteration, std::uint32_t background,
                           std::uint32_t ddl, std::uint64_t sojourn_ns) {
  sw::QueueBurstRecord b;
  b.identity = {job, 0, iteration, BurstDirection::kPush};
  b.start_packets[TrafficClass::kBackground] = background;
  b.start_packets[TrafficClass::kDdl] = ddl;
  b.sojourn_ns = sojourn_ns;
  return b;
}

std::vector<std::string> names_of(const std::vector<LinkReport>& links) {
  std::vector<std::string> names;
  names.reserve(links.size());
  for (const auto& link : links) names.push_back(link.tier + ": " + link.link);
  return names;
}

TEST(LinkResults, TiersBetweenSwitchesComeFirst) {
  const Case c = two_leaves();
  const LinkResults r = links_of(c, idle_run(c));
  EXPECT_THAT(names_of(r.links),
              ElementsAre("leaf to spine: leaf_0.to_spine_0", "leaf to spine: leaf_1.to_spine_0",
                          "spine to leaf: spine_0.to_leaf_0", "spine to leaf: spine_0.to_leaf_1",
                          "leaf to host: leaf_0.to_a", "leaf to host: leaf_1.to_b"));
  EXPECT_EQ(r.span_ns, 10'000);
}

// Port 2 has sent 3 packets of 76 bytes, which take 100 bytes each on the wire: 300 of the 10,000
// ns. At layer 2 they take 228.
TEST(LinkResults, UtilisationIsWhatTheRateCounts) {
  Case c = two_leaves();
  LinkReport link = links_of(c, idle_run(c)).links[1];
  EXPECT_EQ(link.bytes, 228U);
  EXPECT_EQ(link.wire_bytes, 300U);
  EXPECT_DOUBLE_EQ(utilisation(link.wire_bytes, link.bits_per_second, 10'000), 0.03);
  for (auto& sw : c.switches.switches)
    for (auto& port : sw.ports) port.rate_layer = RateLayer::kL2;
  link = links_of(c, idle_run(c)).links[1];
  EXPECT_EQ(link.wire_bytes, 228U);
}

TEST(LinkResults, CountsAreOfAllQueuesAndClasses) {
  const Case c = two_leaves();
  RunResult run = idle_run(c);
  auto second = run.switches.queues[0];
  second.queue = 1;
  second.marks[TrafficClass::kBackground][MarkReason::kMarker] = 4;
  second.drops[TrafficClass::kDdl][DropReason::kTailPackets] = 2;
  second.transmitted[TrafficClass::kBackground] = 5;
  second.transmitted_bytes[TrafficClass::kBackground] = 500;
  run.switches.queues.insert(run.switches.queues.begin() + 1, second);
  const LinkResults r = links_of(c, run);
  ASSERT_EQ(r.links.size(), 6U);
  EXPECT_EQ(r.links[0].packets, 1U + 1U + 5U);
  EXPECT_EQ(r.links[0].bytes, 76U + 76U + 500U);
  EXPECT_EQ(r.links[0].marks, 4U);
  EXPECT_EQ(r.links[0].drops, 2U);
  EXPECT_EQ(r.links[1].packets, 3U) << "the next port's";
}

// Iteration 0 is not measured: its start queue does not count, but its packets waited.
TEST(LinkResults, StartQueueIsOfMeasuredBursts) {
  const Case c = two_leaves();
  RunResult run = idle_run(c);
  auto& queue = run.switches.queues[0];
  queue.bursts = {burst(0, 0, 90, 0, 1'000), burst(0, 1, 10, 1, 20), burst(0, 2, 30, 0, 30)};
  queue.bursts[1].max_packets = 70;
  queue.bins.resize(3);
  queue.bins[2].max_packets = 50;
  const LinkReport link = links_of(c, run).links[0];
  EXPECT_EQ(link.bursts, 2U);
  EXPECT_EQ(link.start_background_packets, 40U);
  EXPECT_EQ(link.start_packets, 41U);
  EXPECT_EQ(link.start_packets_max, 30U);
  EXPECT_EQ(link.burst_sojourn_ns, 1'050U);
  EXPECT_EQ(link.max_packets, 70U);
  EXPECT_EQ(link.watched_ns, 10'000) << "bins end with the last packet";
  queue.bins.resize(5);
  Case short_of_bins = c;
  short_of_bins.switches.max_bins = 5;
  EXPECT_EQ(links_of(short_of_bins, run).links[0].watched_ns, 5'000);
}

TEST(LinkResults, AJobsLinkIsWhereItsOwnBurstsWaitLongest) {
  const Case c = two_leaves();
  RunResult run = idle_run(c);
  run.switches.queues[0].bursts = {burst(0, 1, 4, 0, 100), burst(1, 1, 0, 0, 10)};
  run.switches.queues[3].bursts = {burst(0, 1, 8, 2, 60), burst(1, 1, 6, 2, 50),
                                   burst(1, 2, 2, 0, 1)};
  const LinkResults r = links_of(c, run);
  ASSERT_EQ(r.jobs.size(), 2U);
  EXPECT_EQ(r.jobs[0].link, "leaf_0.to_spine_0");
  EXPECT_EQ(r.jobs[1].link, "leaf_1.to_b");
  EXPECT_EQ(r.jobs[1].bursts, 2U);
  EXPECT_EQ(r.jobs[1].start_background_packets, 8U);
  EXPECT_EQ(r.jobs[1].start_packets, 10U);
  const LinkMetrics m = measure_links(r);
  EXPECT_EQ(m.tiers[0].longest_wait, "leaf_0.to_spine_0");
  EXPECT_THAT(m.tiers[0].worker_start_queue_packets_mean, DoubleEq(2));
  EXPECT_EQ(m.tiers[1].longest_wait, "") << "no burst crossed the spine";
}

// Ports have sent 1 to 6 packets. Of each tier of two the busier one has a line; no packet is lost.
TEST(LinkResults, WhatHasNoLineIsInASum) {
  const Case c = two_leaves();
  RunResult run = idle_run(c);
  run.switches.queues[0].drops[TrafficClass::kDdl][DropReason::kTailPackets] = 7;
  const LinkResults r = links_of(c, run, {.links = 1, .series = 1});
  EXPECT_THAT(names_of(r.links),
              ElementsAre("leaf to spine: leaf_1.to_spine_0", "leaf to spine: others",
                          "spine to leaf: spine_0.to_leaf_1", "spine to leaf: others",
                          "leaf to host: leaf_1.to_b", "leaf to host: others"));
  std::uint64_t packets = 0, links = 0;
  for (const auto& link : r.links) packets += link.packets, links += link.links;
  EXPECT_EQ(packets, 1U + 2 + 3 + 4 + 5 + 6);
  EXPECT_EQ(links, 6U);
  EXPECT_EQ(r.links[1].drops, 7U);
  const LinkMetrics m = measure_links(r);
  ASSERT_EQ(m.tiers.size(), 3U);
  EXPECT_EQ(m.tiers[0].joined, 1U);
  EXPECT_EQ(m.tiers[0].drops, 7U);
  EXPECT_EQ(m.tiers[0].busiest, "leaf_1.to_spine_0");
  EXPECT_DOUBLE_EQ(m.tiers[0].utilisation_max, 0.03);
  EXPECT_DOUBLE_EQ(m.tiers[0].utilisation_mean, 0.02);
}

TEST(LinkResults, SeriesAreWhatWasSentInEachSlice) {
  const Case c = two_leaves();
  RunResult run = idle_run(c);
  run.slices = {.slice_ns = 6'000,
                .ports = 6,
                .sent = {10, 20, 30, 40, 50, 60, 100, 200, 300, 400, 500, 600}};
  const LinkResults r = links_of(c, run, {.links = 9, .series = 1});
  EXPECT_EQ(r.slice_ns, 6'000);
  ASSERT_EQ(r.series.size(), 6U);
  EXPECT_EQ(r.series[0].link, "leaf_1.to_spine_0");
  EXPECT_THAT(r.series[0].wire_bytes, ElementsAre(30, 270));
  EXPECT_EQ(r.series[1].link, kOtherLinks);
  EXPECT_THAT(r.series[1].wire_bytes, ElementsAre(10, 90));
}

TEST(LinkResults, ASwitchWithoutANumberIsAKindOfItsOwn) {
  Case c = two_leaves();
  c.switches.switches[2].name = "core7";
  c.switches.links = {{"leaf_0.to_spine_0", "core7.to_leaf_0"},
                      {"leaf_1.to_spine_0", "core7.to_leaf_1"}};
  EXPECT_EQ(links_of(c, idle_run(c)).links[0].tier, "leaf to core7");
}

// -- slices of a run whose length is not known

TEST(BoundedSlices, TwoBecomeOneWhenThereAreTooMany) {
  BoundedSlices slices(microseconds(10), 2, 4);
  const auto add = [&slices](std::uint64_t a, std::uint64_t b) {
    const std::uint64_t counts[]{a, b};
    slices.add(counts);
  };
  EXPECT_EQ(slices.end(), Time{} + microseconds(10));
  add(1, 10);
  add(2, 20);
  add(3, 30);
  EXPECT_EQ(slices.end(), Time{} + microseconds(40));
  add(4, 40);
  EXPECT_EQ(slices.slice(), microseconds(20));
  EXPECT_THAT(slices.counts(), ElementsAre(2, 20, 4, 40));
  EXPECT_EQ(slices.end(), Time{} + microseconds(60)) << "the third of 20 us";
  add(6, 60);
  add(8, 80);
  EXPECT_EQ(slices.slice(), microseconds(40));
  EXPECT_THAT(slices.counts(), ElementsAre(4, 40, 8, 80));
  EXPECT_EQ(slices.end(), Time{} + microseconds(120));
}

TEST(JoinedSlices, PutsEachSwitchInItsPlace) {
  const Case c = two_leaves();
  const LinkSlices leaves{.slice_ns = 5, .ports = 4, .sent = {1, 2, 3, 4, 10, 20, 30, 40}};
  const LinkSlices spine{.slice_ns = 5, .ports = 2, .sent = {5, 6, 50, 60}};
  const LinkSlices none{.slice_ns = 5, .ports = 0, .sent = {}};
  const std::uint32_t of_switch[]{1, 1, 2};
  const LinkSlices* parts[]{&none, &leaves, &spine};
  const LinkSlices all = joined_slices(c.switches, of_switch, parts);
  EXPECT_EQ(all.ports, 6U);
  EXPECT_THAT(all.sent, ElementsAre(1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60));
  const LinkSlices cut{.slice_ns = 5, .ports = 2, .sent = {5, 6}};
  parts[2] = &cut;
  EXPECT_THROW(joined_slices(c.switches, of_switch, parts), std::runtime_error);
  const std::uint32_t wrong[]{2, 1, 1};
  parts[2] = &spine;
  EXPECT_NO_THROW(joined_slices(c.switches, wrong, parts)) << "each has two ports";
  const std::uint32_t too_many[]{2, 2, 1};
  EXPECT_THROW(joined_slices(c.switches, too_many, parts), std::runtime_error);
}

}  // namespace
}  // namespace outrider::link_results_test
