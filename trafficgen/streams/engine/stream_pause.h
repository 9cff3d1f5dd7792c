#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "common/config/config_binding.h"
#include "common/core/clock.h"
#include "common/core/units.h"
#include "common/net/pause_frame.h"
#include "trafficgen/streams/engine/batch_sender.h"

namespace outrider::tg {

/// A [[pause]]: pause frames of PFC to the neighbour at the other end of a device, so that its
/// queue of one priority stands still for a time, however long one frame lasts at the link's rate.
struct PauseConfig {
  std::string device{};       ///< that sends them
  std::uint8_t priority = 3;  ///< 0 to 7
  Duration start{};           ///< of the pause, from the streams' begin
  Duration duration{};        ///< > 0; a frame of zero quanta ends it
};

void describe(Settings& v, PauseConfig& c);

/// Decides when each frame of a pause leaves: the first at its start, further ones when half of
/// what the one before asked for is over, and at its end the one that lets the neighbour go on.
class PauseSchedule {
 public:
  /// @param rate  of the link, > 0
  PauseSchedule(const PauseConfig& pause, BitRate rate) noexcept
      : every_(pause_renewal(rate)), next_(Time{} + pause.start), end_(next_ + pause.duration) {}

  [[nodiscard]] Time next() const noexcept { return next_; }
  /// @return `size` is 1 for the last frame, which ends the pause, else 0
  Departure take() noexcept {
    const bool last = next_ >= end_;
    const Departure d{next_, 0, static_cast<std::uint32_t>(taken_++), last ? 1U : 0U};
    next_ = last ? kNever : std::min(next_ + every_, end_);
    return d;
  }
  std::size_t take_due(Time now, std::span<Departure> out) noexcept {
    std::size_t n = 0;
    for (; n < out.size() && next_ <= now && next_ != kNever; ++n) out[n] = take();
    return n;
  }
  /// A sender that is behind ends its pause later, so that it lasts.
  void postpone(Duration by) noexcept {
    if (next_ != kNever) next_ += by;
    end_ += by;
  }
  [[nodiscard]] Time slot_end() const noexcept { return next_ == kNever ? end_ : next_; }
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }

 private:
  Duration every_;
  Time next_;
  Time end_;
  std::uint64_t taken_ = 0;
};

/// Writes the frames of one pause.
class PauseFrames {
 public:
  explicit PauseFrames(std::uint8_t priority) noexcept : priority_(priority) {}

  /// @param frame  has kPauseFrameBytes
  void write(std::uint8_t* frame, const Departure& d, std::uint64_t) const noexcept {
    PauseFrame pause;
    pause.set(priority_, d.size == 1 ? std::uint16_t{0} : kLongestPause_quanta);
    encode(pause, kSource, {frame, kPauseFrameBytes});
  }
  void restamp(std::uint8_t*, std::uint64_t) const noexcept {}
  [[nodiscard]] std::uint16_t buffer_bytes(std::uint32_t) const noexcept {
    return kPauseFrameBytes;
  }

 private:
  static constexpr MacAddress kSource{0x02, 0, 0, 0, 0, 0x01};  ///< locally administered

  std::uint8_t priority_;
};

/// Sends the frames of one pause, as long as the device's line rate makes them last. They have no
/// stamp and no receiver counts them.
class PauseSender final : public BatchSender<PauseSchedule, PauseFrames> {
 public:
  /// @param pool of the streams: the head of a stream's frame covers what a pause frame wrote
  PauseSender(const PauseConfig& pause, BitRate rate, rte_mempool& pool)
      : BatchSender(PauseSchedule(pause, rate), PauseFrames(pause.priority),
                    std::chrono::seconds(1), pool) {}
};

}  // namespace outrider::tg
