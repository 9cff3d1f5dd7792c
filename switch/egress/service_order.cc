#include "switch/egress/service_order.h"

#include <algorithm>
#include <array>
#include <vector>

namespace outrider::sw {

Scheduler scheduler_of(const SwitchPortConfig& config) {
  const auto queues = queues_of(config);
  Scheduler::Params params{.kind = config.scheduler,
                           .queues = static_cast<std::uint32_t>(queues.size())};
  std::vector<double> weights;
  for (std::size_t q = 0; q < queues.size(); ++q) {
    const QueueConfig& queue = queues[q].queue;
    weights.push_back(queue.weight);
    if (queue.floor_rate)
      params.floors[q] = {static_cast<double>(queue.floor_rate->bits_per_second) / 8,
                          static_cast<double>(queue.floor_depth_bytes)};
  }
  params.quantum_bytes = dwrr_quanta(weights, kLargestFrameBytes);
  return Scheduler(params);
}

ServiceOrder::ServiceOrder(const SwitchPortConfig& config, FixedArray<PortQueue>& queues)
    : several_(queues_of(config).size() > 1),
      queues_(queues.begin()),
      queue_count_(queues_of(config).size()),
      scheduler_(scheduler_of(config)) {}

void ServiceOrder::stop(QueueMask stopped) noexcept {
  open_ = ~std::uint32_t{stopped};
  waiting_ &= open_;
  for (std::size_t q = 0; q < queue_count_; ++q)
    if (!queues_[q].fifo().empty()) join(1U << q);
}

unsigned ServiceOrder::pick(Time now) noexcept {
  if (!several_) [[likely]]
    return 0;
  const auto head_bytes = [this](std::uint32_t q) { return queues_[q].fifo().head().frame_bytes; };
  return scheduler_.pick(static_cast<QueueMask>(waiting_), head_bytes, now);
}

void ServiceOrder::pick_only(const PortQueue& queue, std::uint32_t frame_bytes, Time now) noexcept {
  static_cast<void>(scheduler_.pick(
      static_cast<QueueMask>(bit_of(queue)), [frame_bytes](std::uint32_t) { return frame_bytes; },
      now));
}

QueueState ServiceOrder::ahead_of(unsigned q, std::uint32_t frame_bytes, Serializer serializer,
                                  Time now) const noexcept {
  QueueState ahead;
  Scheduler scheduler = scheduler_;
  std::array<std::uint32_t, kMaxQueuesPerPort> gone{};
  auto waiting = static_cast<QueueMask>((waiting_ & (kSignals - 1)) | 1U << q);
  const auto is_last = [&](std::uint32_t i) {
    return gone[i] == queues_[i].fifo().occupancy_packets();
  };
  const auto head_bytes = [&](std::uint32_t i) {
    return is_last(i) ? frame_bytes : queues_[i].fifo().behind(gone[i]).frame_bytes;
  };
  for (Time at = now;;) {
    at = std::max(at, serializer.free_at());
    const std::uint32_t next = scheduler.pick(waiting, head_bytes, at);
    if (is_last(next)) return ahead;  // only in queue q
    const auto& item = queues_[next].fifo().behind(gone[next]++);
    ++ahead.packets[item.traffic_class];
    ++ahead.total_packets;
    ahead.bytes += item.frame_bytes;
    scheduler.served(next, item.frame_bytes);
    at = serializer.transmit(item.frame_bytes, at);
    if (is_last(next) && next != q) waiting &= static_cast<QueueMask>(~(1U << next));
  }
}

}  // namespace outrider::sw
