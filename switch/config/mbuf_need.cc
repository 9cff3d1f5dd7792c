#include "switch/config/mbuf_need.h"

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>

#include "common/config/process_checks.h"
#include "switch/config/config_toml.h"
#include "switch/config/lcore_plan.h"
#include "switch/config/regulation_config.h"

namespace outrider::sw {
namespace {

constexpr std::uint64_t kShortestFrameWireBytes = 60 + kL1OverheadBytes;

/// Values out of range are clamped for this computation only; they are reported as errors
/// elsewhere.
std::uint64_t in_flight_packets(BitRate rate, Duration delay) {
  const auto wide = std::clamp(delay, Duration::zero(), kMaxDelay);
  const auto bits = seconds(wide) * static_cast<double>(std::min(rate, kMaxRate).bits_per_second);
  return static_cast<std::uint64_t>(bits / (8.0 * kShortestFrameWireBytes)) + 1;
}

struct MbufNeed {
  std::uint64_t descriptors = 0, queues = 0, links = 0, slack = 0;
  [[nodiscard]] std::uint64_t total() const { return descriptors + queues + links + slack; }
};

MbufNeed mbuf_need(const SwitchProcessConfig& c) {
  const std::uint64_t lcores = 1 + c.more_lcores.size();
  MbufNeed need;
  need.slack = lcores * (kPoolCachePackets + (lcores - 1) * kHandoverPackets);
  for (const auto& d : c.devices) {
    const std::uint64_t queue =
        is_vdev(d.device) ? d.rx_descriptors : receive_ring_mbufs(d.rx_descriptors);
    need.descriptors += queue * rx_queues_at_most(d, lcores) + d.tx_descriptors;
    need.slack += 2 * kBatchPackets;
  }
  for (const auto& sw : c.switches) {
    for (const auto& port : sw.ports) {
      for (const auto& queue : queues_of(port)) {
        need.queues += queue.queue.limit_packets;
        if (grants(queue.regulation.grant)) need.queues += queue.regulation.max_entries;  // answers
      }
      need.queues += 1;  // in service
      if (port.device) need.links += 2 * in_flight_packets(port.drain_rate, port.delay);
      need.slack += 2 * kBatchPackets;
    }
  }
  std::unordered_map<std::string, BitRate> rate_of;  // by full name
  for (const auto& sw : c.switches)
    for (const auto& port : sw.ports)
      rate_of.try_emplace(sw.name + '.' + port.name, port.drain_rate);
  for (const auto& link : c.links)
    for (const auto& end : {link.a, link.b})
      if (const auto rate = rate_of.find(end); rate != rate_of.end())
        need.links += in_flight_packets(rate->second, link.delay);
  return need;
}

}  // namespace

void check_mbufs(const Checks& root, const SwitchProcessConfig& c) {
  if (!c.mbufs) return;
  const auto need = mbuf_need(c);
  root.require(*c.mbufs >= need.total(), "mbufs", std::to_string(*c.mbufs),
               "must be at least " + std::to_string(need.total()) + " = descriptors " +
                   std::to_string(need.descriptors) + " + queues " + std::to_string(need.queues) +
                   " + in flight on links " + std::to_string(need.links) +
                   " + batches, caches and rings " + std::to_string(need.slack));
}

std::uint32_t frame_room_bytes(const SwitchProcessConfig& config) {
  std::uint32_t room = 2048;
  for (const auto& device : config.devices)
    room = std::max(room, receive_room_bytes(device.mtu_bytes));
  return room;
}

std::uint32_t required_mbufs(const SwitchProcessConfig& config) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(mbuf_need(config).total(), kLargest));
}

std::uint32_t starting_mbufs(const SwitchProcessConfig& config) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint32_t>::max();
  const auto need = mbuf_need(config);
  const std::uint64_t derived = need.total() + need.links + need.queues / 4;
  return config.mbufs.value_or(static_cast<std::uint32_t>(std::min(derived, kLargest)));
}

std::string buffer_keys(const SwitchProcessConfig& config) {
  if (config.mbufs) return "`mbufs`";
  const auto need = mbuf_need(config);
  const std::uint64_t most = std::max({need.descriptors, need.queues, need.links, need.slack});
  if (most == need.queues) return "`limit_packets` of queues";
  if (most == need.links) return "`delay` or `drain_rate` of ports and links";
  if (most == need.descriptors) return "`rx_descriptors` and `tx_descriptors`";
  return "the number of `more_lcores`";
}

}  // namespace outrider::sw
