#include "trafficgen/channel/roce_ideal_times.h"

#include <algorithm>
#include <utility>

#include "trafficgen/roce/path_mtu.h"

namespace outrider::tg {

RoceIdealTimes::RoceIdealTimes(ChannelHosts hosts)
    : hosts_(std::move(hosts)), ways_(hosts_.pairs()) {}

std::uint32_t RoceIdealTimes::path_mtu(HostPair pair) const noexcept {
  return path_mtu_of(
      std::min(hosts_.near(pair).setup().mtu_bytes, hosts_.far(pair).setup().mtu_bytes));
}

std::int64_t RoceIdealTimes::packets_ns(HostPair pair, std::uint64_t bytes) const noexcept {
  return frames_ns(wire_bytes_of_write(bytes, path_mtu(pair)), hosts_.near(pair), hosts_.far(pair));
}

std::optional<std::int64_t> RoceIdealTimes::ideal_ns(const FlowTimes& flow) noexcept {
  if (!flow.answer_ns) return std::nullopt;
  const std::int64_t packets = packets_ns(flow.pair, flow.bytes);
  const std::int64_t rest_ns = std::max<std::int64_t>(flow.took_ns - packets, 0);
  Way& way = ways_[hosts_.index_of(flow.pair)];
  way.answer_ns = std::min(way.answer_ns, *flow.answer_ns);
  const std::uint32_t full = path_mtu(flow.pair);
  if (flow.bytes < full) return std::min(way.answer_ns, rest_ns) + packets;
  const std::int64_t first_ns =
      std::max<std::int64_t>(flow.first_way_ns - packets_ns(flow.pair, full), 0);
  data_over_answer_ns_ =
      std::min(data_over_answer_ns_, std::max<std::int64_t>(first_ns - way.answer_ns, 0));
  way.data_ns = std::min({way.data_ns, first_ns, rest_ns});
  return std::min(way.data_ns, way.answer_ns + data_over_answer_ns_) + packets;
}

}  // namespace outrider::tg
