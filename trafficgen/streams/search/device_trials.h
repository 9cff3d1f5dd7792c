#pragma once

#include "trafficgen/streams/run/stream_process.h"
#include "trafficgen/streams/search/trials.h"

namespace outrider::tg {

/// Trials over the devices of a process, in real time. A stop signal interrupts them.
class DeviceTrials final : public Trials {
 public:
  /// @param process  outlives this; its links are up
  explicit DeviceTrials(StreamProcess& process) noexcept : process_(process) {}

  std::optional<StreamsReport> run(const Trial& trial) override {
    StreamEngine engine = process_.engine(trial.streams, trial.duration, {}, trial.pauses);
    if (process_.run(engine, trial.duration).interrupted) return std::nullopt;
    return engine.report();
  }

 private:
  StreamProcess& process_;
};

}  // namespace outrider::tg
