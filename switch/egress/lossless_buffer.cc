#include "switch/egress/lossless_buffer.h"

#include "common/config/addresses.h"
#include "common/core/pause_time.h"
#include "switch/egress/port_pauses.h"

namespace outrider::sw {

std::vector<SharedBuffer::QueueShare> LosslessBuffer::shares_of(const SwitchConfig& config) {
  std::vector<SharedBuffer::QueueShare> shares;
  for (const auto& port : config.ports)
    for (const auto& queue : queues_of(port))
      if (const auto& alpha = queue.queue.lossless.xoff_alpha)
        shares.push_back({.reserved_bytes = 0, .alpha = *alpha});
  return shares;
}

std::unique_ptr<LosslessBuffer> LosslessBuffer::make(const SwitchConfig& config,
                                                     SharedBuffer* shared) {
  return has_lossless(config) ? std::make_unique<LosslessBuffer>(config, shared) : nullptr;
}

LosslessBuffer::LosslessBuffer(const SwitchConfig& config, SharedBuffer* shared)
    : accounts_(config.ports.size() * kMaxQueuesPerPort), pauses_(config.ports.size()) {
  if (config.mac) mac_ = *parse_mac(*config.mac).value;
  std::size_t share = shared != nullptr ? shared->queues() - shares_of(config).size() : 0;
  for (std::size_t p = 0; p < config.ports.size(); ++p) {
    const auto queues = queues_of(config.ports[p]);
    for (std::size_t q = 0; q < queues.size(); ++q) {
      const LosslessConfig& lossless = queues[q].queue.lossless;
      if (!lossless.on()) continue;
      PauseAccount::Limits limits{
          .xoff_bytes = lossless.xoff_bytes,
          .xon_bytes = lossless.resume_bytes(),
          .headroom_bytes = lossless.headroom_bytes,
          .pause = pause_time(lossless.pause_quanta, config.ports[p].drain_rate)};
      if (lossless.xoff_alpha)
        limits.share = {
            .buffer = shared, .queue = share++, .xon_offset_bytes = lossless.xon_offset_bytes};
      accounts_[p * kMaxQueuesPerPort + q].emplace(limits);
    }
  }
}

void LosslessBuffer::charge(const Packet& packet, std::uint8_t queue, Time now) noexcept {
  const std::uint16_t port = ingress_port_of(packet);
  pool_ = packet.pool;
  if (account(port, queue).charge(meta(packet).frame_bytes) != PauseAccount::Tell::kNothing)
    pauses_[port]->notify(queue, now);
}

void LosslessBuffer::release(const Packet& packet, std::uint8_t queue, Time now) noexcept {
  const std::uint16_t port = ingress_port_of(packet);
  if (account(port, queue).release(meta(packet).frame_bytes) != PauseAccount::Tell::kNothing)
    pauses_[port]->notify(queue, now);
}

}  // namespace outrider::sw
