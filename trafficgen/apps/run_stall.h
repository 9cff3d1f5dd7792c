#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/runtime/poll_devices.h"
#include "trafficgen/apps/stall_watch.h"
#include "trafficgen/measure/live.h"

namespace outrider::tg {

/// How a run has stalled.
struct RunStall {
  std::uint64_t unanswered = 0;  ///< packets sent since the last one came
  std::string device{};          ///< on which; empty: on all of them together
};

/// Watches the packets of a run as a whole and of each device. A dead cable whose driver says that
/// the link is up stalls its device alone: what the other ones receive would hide it.
class RunStallWatch {
 public:
  /// @param limit  see StallWatch
  RunStallWatch(std::optional<Duration> limit, std::size_t devices)
      : all_(limit), of_device_(devices, StallWatch(limit)) {}

  void note(const TrafficLive& all, const PollDevices& devices) {
    const Time now{Duration{all.at_ns}};
    all_.note(all.sent, all.received, now);
    for (std::size_t d = 0; d < of_device_.size(); ++d) {
      const PortPackets packets = devices.port(d).packets();
      of_device_[d].note(packets.taken, packets.received, now);
    }
  }

  [[nodiscard]] bool stalled() const noexcept {
    for (const auto& device : of_device_)
      if (device.stalled()) return true;
    return all_.stalled();
  }
  /// Returns how; nothing: it has not.
  [[nodiscard]] std::optional<RunStall> stall(const PollDevices& devices) const {
    if (all_.stalled()) return RunStall{all_.unanswered()};
    for (std::size_t d = 0; d < of_device_.size(); ++d)
      if (of_device_[d].stalled())
        return RunStall{of_device_[d].unanswered(), devices.port(d).name()};
    return std::nullopt;
  }

 private:
  StallWatch all_;
  std::vector<StallWatch> of_device_;
};

}  // namespace outrider::tg
