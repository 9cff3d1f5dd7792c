#include "switch/runtime/switch_lane.h"

namespace outrider::sw {

namespace {

constexpr std::uint32_t kNoUdpPort = 0x1'0000;  // larger than any port

bool predicts_at_a_queue(const SwitchConfig& config) {
  for (const auto& port : config.ports)
    for (const auto& queue : queues_of(port))
      if (queue.regulation.predict.from != PredictFrom::kOff) return true;
  return false;
}

}  // namespace

SwitchTables::SwitchTables(const SwitchConfig& config, std::uint32_t index)
    : forwarder(config, index),
      classifier(config),
      burst_sizes(config.signals.burst_sizes),
      signal_port(config.signals.accept_udp ? config.signals.udp_port : kNoUdpPort),
      predicts(predicts_at_a_queue(config)) {}

}  // namespace outrider::sw
