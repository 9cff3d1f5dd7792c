#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/units.h"
#include "trafficgen/measure/stream_report.h"
#include "trafficgen/streams/engine/stream_config.h"
#include "trafficgen/streams/engine/stream_pause.h"
#include "trafficgen/streams/engine/stream_receiver.h"

namespace outrider::tg {

/// One run of streams from the beginning, on an idle path.
struct Trial {
  std::vector<StreamConfig> streams{};
  std::vector<PauseConfig> pauses{};
  Duration duration{};  ///< no packet is due at or after it
};

/// What a trial gave.
struct TrialResult {
  StreamsReport report{};
  /// The first packets that arrived of the first stream, as many as its latency_samples.
  std::vector<StreamSample> samples{};
};

/// Runs trials one after another, over devices or in virtual time. What was in flight at the end
/// of one does not count in the next: see trial_streams().
class Trials {
 public:
  Trials() = default;
  virtual ~Trials() = default;
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;

  /// Returns what a trial gave; nothing if it was interrupted.
  virtual std::optional<TrialResult> run(const Trial& trial) = 0;

  /// Returns the line rate (L1) of a device; zero if nobody knows it.
  [[nodiscard]] virtual BitRate line_rate(const std::string& device) const = 0;
};

}  // namespace outrider::tg
