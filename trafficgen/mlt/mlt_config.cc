#include "trafficgen/mlt/mlt_config.h"

#include <string>

namespace outrider {

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
  at.positive("probe_timeout", mlt.probe_timeout);
  at.in_range("probe_limit", mlt.probe_limit, 1, kMaxProbes);
  at.in_range("feedback_packets", mlt.feedback_packets, 1, kMaxFeedbackPackets);
  at.in_range("class_dscps", mlt.class_dscps.size(), 0, kMaxClasses, "classes");
  for (std::size_t i = 0; i < mlt.class_dscps.size(); ++i)
    at.below("class_dscps", i).in_range("", mlt.class_dscps[i], 0, kLargestDscp);
  at.in_interval("front_share", mlt.front_share, 0, 1, true);
  at.in_interval("small_share", mlt.small_share, 0, 1, true);
}

}  // namespace outrider
