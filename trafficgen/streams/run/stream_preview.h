#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/core/clock.h"
#include "trafficgen/streams/engine/stream_engine.h"
#include "trafficgen/streams/engine/stream_frames.h"

namespace outrider::tg {

/// Shows frame by frame what streams will send and when, without sending. It uses the schedules and
/// frames of the run. The departure stamp is the due time [ns].
class StreamPreview {
 public:
  /// @param setup as of the engine
  explicit StreamPreview(const StreamEngine::Setup& setup);

  /// Returns when the next frame is due; kNever if there will be none.
  [[nodiscard]] Time next() const noexcept;
  /// @pre next() != kNever. @return the frame without FCS, valid until the next call
  std::span<const std::uint8_t> take() noexcept;

 private:
  struct Sending {
    StreamSchedule schedule;
    StreamFrames frames;
  };
  [[nodiscard]] std::size_t first() const noexcept;

  std::vector<Sending> sending_;
  std::vector<std::uint8_t> frame_;
};

}  // namespace outrider::tg
