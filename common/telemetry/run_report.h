#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "common/core/figure.h"
#include "common/core/poll_gaps.h"
#include "common/telemetry/poll_gap_fields.h"

namespace outrider {

/// The figures of a program's devices and loops, which are also shown while it runs.
struct RunFigures {
  /// Lost before our queue, by the counters of those devices that have them. Absent: none of what
  /// was counted says so, and `devices_not_counting` names a device that does not count it.
  std::optional<std::uint64_t> device_rx_missed = 0;
  std::optional<std::uint64_t> device_rx_nombuf = 0;
  std::optional<std::uint64_t> device_rx_errors = 0;
  std::vector<std::string> devices_not_counting{};  ///< one or more of these
  std::int64_t longest_poll_gap_ns = 0;             ///< real time only
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, RunFigures>
void fields(V& v, R& r) {
  v.value(counter("device_rx_missed", "packets", "Packets that devices lost before the program")
              .as("device_rx_missed_packets")
              .shown_as("lost before"),
          r.device_rx_missed);
  v.value(counter("device_rx_nombuf", "packets", "Packets that devices lost for want of a buffer")
              .as("device_rx_nombuf_packets")
              .shown_as("lost before"),
          r.device_rx_nombuf);
  v.value(counter("device_rx_errors", "packets", "Packets that reached devices damaged")
              .as("device_rx_errors_packets")
              .shown_as("lost before"),
          r.device_rx_errors);
  v.value("devices_not_counting", r.devices_not_counting);
  v.value(gauge("longest_poll_gap_ns", "ns", "Longest time between two polls"),
          r.longest_poll_gap_ns);
}

/// The figures that the reports of both programs share.
struct RunReport : RunFigures {
  std::int64_t bin_ns = 0;  ///< width of the time series' bins
  std::int64_t end_ns = 0;
  std::vector<PollGap> poll_gaps;  ///< real time only: the longest, see PollGaps; sorted by time
  bool ledger_balanced = false;    ///< every packet has ended in one way or is resident
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, RunReport>
void fields(V& v, R& r) {
  v.value("bin_ns", r.bin_ns);
  v.value("end_ns", r.end_ns);
  fields(v, base_of<RunFigures>(r));
  v.value("poll_gaps", r.poll_gaps);
  v.value(gauge("ledger_balanced", "", "1: each queue accounts for its packets"),
          r.ledger_balanced);
}

/// Returns what a line of a summary says of the devices' losses: "receive missed 3, no buffer 0,
/// damaged not counted (pa)".
inline std::string device_losses_text(const RunReport& r) {
  std::string devices;
  for (const std::string& name : r.devices_not_counting)
    devices += (devices.empty() ? "" : ", ") + name;
  const auto shown = [](const std::optional<std::uint64_t>& n) {
    return n ? std::to_string(*n) : std::string("not counted");
  };
  return "receive missed " + shown(r.device_rx_missed) + ", no buffer " +
         shown(r.device_rx_nombuf) + ", damaged " + shown(r.device_rx_errors) +
         (devices.empty() ? "" : "; not all is counted at " + devices);
}

}  // namespace outrider
