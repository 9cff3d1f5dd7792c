#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "trafficgen/streams/run/stream_process.h"
#include "trafficgen/streams/search/trials.h"

namespace outrider::tg {

/// Trials over the devices of a process, in real time. A stop signal interrupts them.
class DeviceTrials final : public Trials {
 public:
  /// @param process  outlives this; its links are up
  explicit DeviceTrials(StreamProcess& process) noexcept : process_(process) {}

  std::optional<TrialResult> run(const Trial& trial) override {
    StreamEngine engine = process_.engine(trial.streams, trial.duration, {}, trial.pauses);
    if (process_.run(engine, trial.duration).interrupted) return std::nullopt;
    return TrialResult{engine.report(), engine.samples(0)};
  }

  [[nodiscard]] BitRate line_rate(const std::string& device) const override {
    const auto setup = process_.setup({});
    const auto found = std::ranges::find(setup.devices, device, &StreamDevice::name);
    return found == setup.devices.end() ? BitRate{} : found->line_rate;
  }

 private:
  StreamProcess& process_;
};

}  // namespace outrider::tg
