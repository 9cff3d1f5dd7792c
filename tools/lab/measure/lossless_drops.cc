#include "tools/lab/measure/lossless_drops.h"

#include <algorithm>

namespace outrider::lab {
namespace {

bool is_lossless(const Case& definition, const sw::QueueReport& queue) {
  const auto& switches = definition.switches.switches;
  const auto sw = std::ranges::find(switches, queue.switch_name, &sw::SwitchConfig::name);
  if (sw == switches.end()) return false;
  const auto port = std::ranges::find(sw->ports, queue.port_name, &sw::SwitchPortConfig::name);
  if (port == sw->ports.end()) return false;
  const auto queues = sw::queues_of(*port);
  return queue.queue < queues.size() && queues[queue.queue].queue.lossless.on();
}

}  // namespace

LosslessDrops lossless_drops(const Case& definition, const sw::SwitchReport& report) {
  using enum DropReason;
  LosslessDrops sum;
  for (const sw::QueueReport& queue : report.queues) {
    if (!is_lossless(definition, queue)) continue;
    for (const TrafficClass c : {TrafficClass::kBackground, TrafficClass::kDdl}) {
      const PerReason<DropReason>& drops = queue.drops[c];
      sum.headroom += drops[kHeadroom];
      sum.watchdog += drops[kPauseWatchdog];
      for (const DropReason reason :
           {kTailPackets, kTailBytes, kOverShare, kBufferFull, kAqmNotEct, kAqmOverload})
        sum.queue += drops[reason];
    }
  }
  return sum;
}

}  // namespace outrider::lab
