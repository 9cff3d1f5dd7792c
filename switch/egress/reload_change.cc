#include "switch/egress/reload_change.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "switch/config/config_toml.h"
#include "switch/config/same_settings.h"
#include "switch/egress/port_report.h"

namespace outrider::sw {

RegulationPolicy policy_of(const PortQueueConfig& config, BitRate rate,
                           const SignerShares& signers) {
  constexpr double kMostBytes = 1e18;
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint16_t>::max();
  RegulationPolicy policy = config.regulation;
  policy.window.beyond.clear();  // no regulator needs the list, and a change must not allocate
  policy.signers = signers;
  if (!policy.max_threshold_packets)
    policy.max_threshold_packets =
        static_cast<std::uint16_t>(std::min(config.queue.limit_packets, kMost));
  if (!policy.max_burst_bytes) {
    const double seconds = std::chrono::duration<double>(policy.expiry).count();
    const double bytes = static_cast<double>(rate.bits_per_second) / 8 * seconds;
    policy.max_burst_bytes = static_cast<std::uint64_t>(std::clamp(bytes, 1.0, kMostBytes));
  }
  return policy;
}

QueueChange prepare_change(const PortQueue& queue, const PartReload& reload,
                           const MarkerSetup& setup, bool new_rate) {
  const PortQueueConfig& to = reload.queue_to;
  const std::uint32_t limit = to.queue.limit_packets;
  QueueChange change{.config = to};
  change.config.regulation = reload.policy;
  if (limit > queue.fifo().slots())
    change.fifo.emplace(PortQueue::Fifo::Limits{limit, to.queue.limit_bytes});
  if (!same_settings(reload.queue_from.marker, to.marker) || new_rate)
    change.marker.emplace(to.marker, setup);
  if (acts_on_bursts(to.regulation.mode) && !queue.regulation().exists())
    change.regulator = std::make_unique<Regulator>(reload.policy);
  queue.parts().each([&](const QueuePart& part) { change.parts.push_back(part.prepare(reload)); });
  return change;
}

void apply_change(QueueChange& change, PortQueue& queue, Time now) noexcept {
  settle(queue, now);
  const PortQueueConfig& to = change.config;
  PortQueue::Fifo& fifo = queue.fifo();
  if (change.fifo) {
    change.fifo->take_all(fifo);
    std::swap(fifo, *change.fifo);
  }
  fifo.change({to.queue.limit_packets, to.queue.limit_bytes});
  queue.regulation().change(to.regulation, change.regulator, now);
  queue.marking().change(to.marker, change.marker);
  assert(change.parts.size() == queue.parts().size());
  std::size_t i = 0;
  queue.parts().each([&](QueuePart& part) { part.apply(change.parts[i++].get(), to, now); });
  queue.parts().renew();
}

}  // namespace outrider::sw
