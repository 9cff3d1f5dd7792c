#include "switch/report/with_devices.h"

#include <algorithm>

namespace outrider::sw {

SwitchReport with_devices(SwitchReport report, const PerClass<std::uint64_t>& tx_dropped,
                          std::uint64_t malformed, const DeviceLosses& losses,
                          const PollTimes& times) {
  for (std::size_t c = 0; c < kTrafficClasses; ++c) {
    report.drops.values[c][DropReason::kDeviceTxFull] += tx_dropped.values[c];
    report.transmitted -= tx_dropped.values[c];
  }
  // In a view of a running switch the device's counters are newer than ours.
  const std::uint64_t failed = std::min(losses.tx_failed, report.transmitted);
  report.drops[TrafficClass::kBackground][DropReason::kDeviceTxError] += failed;
  report.transmitted -= failed;
  report.received += malformed;
  report.drops[TrafficClass::kBackground][DropReason::kMalformed] += malformed;
  losses.put_into(report);
  report.longest_poll_gap_ns = times.longest_gap.count();
  report.busy_ns = times.busy.count();
  return report;
}

}  // namespace outrider::sw
