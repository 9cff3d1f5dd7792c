#include "switch/config/queue_config.h"

#include <algorithm>
#include <string>

#include "common/config/quantities.h"
#include "switch/config/regulation_config.h"
#include "switch/config/reload_rules.h"

namespace outrider::sw {

namespace {
constexpr std::uint64_t kMaxBufferBytes = std::uint64_t{1} << 34;
constexpr std::uint32_t kMaxDemotedFlows = 1U << 20;
}  // namespace

void describe(Settings& v, DemotionConfig& c) {
  v.bytes(
      "after", c.after_bytes,
      {.range = integers(0, kMaxBufferBytes, "bytes"),
       .absent = "none go there",
       .help = "payload of each flow that goes to `from_queue`; the flow goes on in this queue. "
               "Packets without payload always go there"});
  v.value("from_queue", c.from_queue,
          {.accepts = "another queue of the port, served earlier",
           .help = "where flows of this queue begin"});
  v.duration("idle", c.idle,
             {.range = durations_above_zero(),
              .help = "a flow begins anew if it sends nothing for so long, and nothing of it waits "
                      "in this queue"});
  v.value("max_flows", c.max_flows,
          {.range = integers(1, kMaxDemotedFlows),
           .help = "flows that are followed; others go to this queue at once"});
}

void describe(Settings& v, QueueConfig& c) {
  v.value("limit_packets", c.limit_packets,
          {.range = integers(1, kMaxQueuePackets, "packets"),
           .help = "packets that may wait",
           .reload = kReloads});
  v.bytes("limit_bytes", c.limit_bytes,
          {.range = integers_from(kLargestFrameBytes, "bytes"),
           .absent = "none",
           .help = "frame bytes that may wait; without it packets alone limit",
           .reload = kReloads});
  v.value("weight", c.weight,
          {.range = reals(0.01, 100),
           .help = "`dwrr`: share of the link, in frame bytes",
           .reload = kReloads});
  v.rate("floor_rate", c.floor_rate,
         {.range = link_rates(),
          .absent = "none",
          .help = "`strict_floor`: guaranteed rate, in frame bytes without FCS, gap and preamble",
          .reload = kReloads});
  v.bytes("floor_depth_bytes", c.floor_depth_bytes,
          {.range = integers(kLargestFrameBytes, kMaxBufferBytes, "bytes"),
           .help = "`strict_floor`: depth of the floor's token bucket; two jumbo frames",
           .reload = kReloads});
  v.value("alpha", c.alpha,
          {.range = reals(1e-3, 1e3),
           .help = "shared buffer: the queue may hold so many times what is free",
           .reload = kDivided});
  v.bytes("reserved_bytes", c.reserved_bytes,
          {.range = integers(0, kMaxBufferBytes, "bytes"),
           .help = "shared buffer: the queue's own part of it",
           .reload = kDivided});
  v.table("demotion", c.demotion);
  v.table("lossless", c.lossless);
}

void describe(Settings& v, RedConfig& c) {
  v.value("kmin_packets", c.kmin_packets,
          {.range = reals(0, kMaxQueuePackets),
           .help = "average occupancy from which packets are marked"});
  v.value("kmax_packets", c.kmax_packets,
          {.range = reals_above(0, kMaxQueuePackets),
           .accepts = "above `kmin_packets`",
           .help = "average from which all are. Keep it below `limit_packets`; that is not "
                   "checked"});
  v.share("pmax", c.pmax,
          {.range = reals_above(0, 1),
           .help = "probability just below `kmax_packets`, 0 at `kmin_packets`, linear between"});
  v.value("weight", c.weight,
          {.range = reals_above(0, 1),
           .help = "of a new sample in the average; 1: the instantaneous occupancy"});
  v.choice("spacing", c.spacing, kRedSpacings,
           {.help = "each packet with p; or gaps between marks uniform in 1 to 1/p, as the RED "
                    "paper, which marks twice as many"});
}

void describe(Settings& v, PieConfig& c) {
  v.duration("target", c.target,
             {.range = durations_above_zero(),
              .help = "delay that it settles at (QDELAY_REF). Gains, interval of updates and burst "
                      "allowance [follow from it](markers.md#pie-and-codel-at-low-delay)"});
  v.share("mark_ecnth", c.mark_ecnth,
          {.range = reals(0, 1),
           .help = "above that probability packets are dropped instead of marked, ECT too "
                   "(`aqm_overload`); 1: never"});
}

void describe(Settings& v, Pi2Config& c) {
  v.duration("target", c.target,
             {.range = durations_above_zero(),
              .help = "delay that it settles at. Gains and interval of updates "
                      "[follow from it](markers.md#pie-and-codel-at-low-delay)"});
}

void describe(Settings& v, CodelConfig& c) {
  v.duration("target", c.target,
             {.range = durations_above_zero(), .help = "sojourn that is tolerated as standing"});
  v.duration("interval", c.interval,
             {.accepts = "at least `target`",
              .help = "for how long it must stand; about the largest round-trip time"});
}

void describe(Settings& v, MarkerConfig& c) {
  // The tables of all kinds are checked, whichever kind is chosen. The step's K is checked only
  // when the step is chosen.
  const SettingRange threshold =
      c.kind == MarkerKind::kStep ? integers(1, kMaxQueuePackets, "packets") : SettingRange{};
  v.choice("kind", c.kind, kMarkerKinds,
           {.help = "`tail_drop` marks nothing of its own; while regulated it marks background as "
                    "the others do"});
  v.choice("mark_at", c.at, kMarkAtNames,
           {.help = "when step, RED and the regulated threshold judge. PIE judges at enqueue, "
                    "PI2 and CoDel at dequeue, whatever it says"});
  v.choice("not_ect", c.not_ect, kNotEctNames,
           {.absent = "step `\"pass\"`; the others `\"drop\"`",
            .help = "what becomes of a Not-ECT packet where ECT is marked"});
  v.value(
      "threshold_packets", c.threshold_packets,
      {.range = threshold, .accepts = "`step`: below `limit_packets`", .help = "K of the step"});
  v.value("background_threshold_packets", c.background_threshold_packets,
          {.range = threshold,
           .accepts = "`step`: below `limit_packets`",
           .absent = "`threshold_packets`",
           .help = "K of all but DDL data: the static pair by class"});
  v.choice("occupancy", c.occupancy, kStepOccupancies,
           {.help = "`step`: what K is compared with. `own_and_higher` also counts packets in the "
                    "port's queues with lower numbers: [cross-queue "
                    "notification](markers.md#cross-queue-notification)"});
  v.table("red", c.red);
  v.table("pie", c.pie);
  v.table("pi2", c.pi2);
  v.table("codel", c.codel);
}

void describe(Settings& v, PortQueueConfig& c) {
  describe(v, c.queue);
  v.table("marker", c.marker, {.reload = kReloads});
  v.table("regulation", c.regulation);
}

namespace {

void check_red(const Checks& at, const RedConfig& red) {
  at.require(red.kmax_packets > red.kmin_packets, "kmax_packets", std::to_string(red.kmax_packets),
             "must be above kmin_packets");
}

void check_codel(const Checks& at, const CodelConfig& codel) {
  at.require(codel.interval >= codel.target, "interval", format_duration(codel.interval),
             "must not be shorter than target, " + format_duration(codel.target));
}

}  // namespace

double standing_packets(const QueueConfig& queue, const MarkerConfig& marker) noexcept {
  const double limit = queue.limit_packets;
  if (marker.kind == MarkerKind::kStep)
    return std::min<double>(limit,
                            marker.background_threshold_packets.value_or(marker.threshold_packets));
  if (marker.kind == MarkerKind::kRed) return std::min(limit, marker.red.kmax_packets);
  return limit;
}

void check(const Checks& at, const MarkerConfig& marker, const QueueConfig& queue) {
  check_red(at.below("red"), marker.red);
  check_codel(at.below("codel"), marker.codel);
  at.require(marker.kind == MarkerKind::kStep || marker.occupancy == StepOccupancy::kOwn,
             "occupancy", "\"own_and_higher\"", "needs kind = \"step\"");
  if (marker.kind != MarkerKind::kStep) return;
  const auto check_threshold = [&](std::string_view key, std::uint32_t threshold) {
    at.require(threshold < queue.limit_packets, key, std::to_string(threshold) + " packets",
               "must be below the queue's limit_packets, " + std::to_string(queue.limit_packets));
  };
  check_threshold("threshold_packets", marker.threshold_packets);
  if (marker.background_threshold_packets)
    check_threshold("background_threshold_packets", *marker.background_threshold_packets);
}

}  // namespace outrider::sw
