#include "switch/regulation/windows/window_lead.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace outrider {

WindowLead window_lead(const WindowLeadInput& in) noexcept {
  assert(in.rate.bits_per_second > 0 && in.rtt > Duration::zero() && in.packet_bytes > 0 &&
         in.flows >= 1 && in.standing_clamp >= 1);
  const double packet_ns = 8e9 * in.packet_bytes / static_cast<double>(in.rate.bits_per_second);
  const double path = static_cast<double>(in.rtt.count()) / packet_ns;
  const double flows = in.flows;
  const double least = in.least_segments * flows;
  // Flows cannot have less in flight than `least`, so the queue may stand above K.
  const double flight = std::max(path + in.standing_packets + flows, least);
  const double told = in.told_packets.value_or(
      std::max(in.standing_clamp * flight, in.whole_paths ? flows * path : 0));
  const double held = std::max(path + in.h_packets, least);
  const double drains_ns = std::max(told - held, 0.0) * packet_ns;
  return {.lead = in.rtt + Duration{std::llround(drains_ns)},
          .left_packets = held - path,
          .kept_share = least / std::max(path + in.standing_packets, least)};
}

}  // namespace outrider
