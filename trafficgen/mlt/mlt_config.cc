#include "trafficgen/mlt/mlt_config.h"

#include <string>

namespace outrider::tg {

namespace {
constexpr std::uint64_t kMaxProbes = 1000;
constexpr std::uint64_t kMaxFeedbackPackets = 64;
constexpr std::uint64_t kMaxClasses = 8;  ///< a port's queues
constexpr std::uint64_t kLargestDscp = 63;
}  // namespace

void check(const Checks& at, const MltConfig& mlt) {
  const auto tolerance = [&at](std::string_view key, double share) {
    at.require(share >= 0 && share < 1, key, std::to_string(share),
               "must be at least 0 and less than 1");
  };
  tolerance("tolerance_push", mlt.tolerance_push);
  tolerance("tolerance_pull", mlt.tolerance_pull);
  at.require(mlt.tolerance_pull <= mlt.tolerance_push, "tolerance_pull",
             std::to_string(mlt.tolerance_pull),
             "must be at most tolerance_push, " + std::to_string(mlt.tolerance_push) +
                 ": parameters stand for all workers' gradients");
  at.in_range("class_dscps", mlt.class_dscps.size(), 0, kMaxClasses, "classes");
  for (std::size_t i = 0; i < mlt.class_dscps.size(); ++i)
    at.below("class_dscps", i).in_range("", mlt.class_dscps[i], 0, kLargestDscp);
}

void describe(Settings& v, MltConfig& c) {
  v.share("tolerance_push", c.tolerance_push,
          {.accepts = "0 to below 1",
           .help = "share of each tensor's gradients that a server may do without"});
  v.share("tolerance_pull", c.tolerance_pull,
          {.accepts = "0 to `tolerance_push`", .help = "the same of parameters and workers"});
  v.duration(
      "probe_timeout", c.probe_timeout,
      {.range = durations_above_zero(), .help = "shortest silence after which a sender probes"});
  v.value("probe_limit", c.probe_limit,
          {.range = integers(1, kMaxProbes),
           .help = "probes without an answer, in a row, after which it gives up"});
  v.value("feedback_packets", c.feedback_packets,
          {.range = integers(1, kMaxFeedbackPackets),
           .help = "data packets from one feedback to the next"});
  v.value("class_dscps", c.class_dscps,
          {.range = integers(0, kLargestDscp),
           .accepts = "at most 8",
           .absent = "none: one class, DSCP 0",
           .help = "DSCP of each class of layers, the front ones' first"});
  v.share(
      "front_share", c.front_share,
      {.range = reals(0, 1), .help = "of the layers, from the front: their packets are Not-ECT"});
  v.share("small_share", c.small_share,
          {.range = reals(0, 1),
           .help = "of each tensor's packets, those with the smallest gradients: Not-ECT"});
  v.choice("order", c.order, kPacketOrders,
           {.help = "in which a tensor's packets leave: front to back, or drawn anew for each "
                    "burst, so that what STOP leaves unsent is not always a tensor's end"});
  v.choice("magnitudes", c.magnitudes, kMagnitudes,
           {.accepts = "gradient needs a `[job.learner]`",
            .help = "which gradients are small: drawn at random, or computed by the learner"});
}

}  // namespace outrider::tg
