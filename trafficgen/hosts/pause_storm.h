#pragma once

#include <cstdint>

#include "common/core/clock.h"
#include "common/core/pause_time.h"
#include "common/core/units.h"
#include "common/dpdk/packet/packet.h"
#include "trafficgen/hosts/pause_storm_config.h"

namespace outrider::tg {

/// Says when a host's NIC sends the pause frames of a storm, and writes them. Each asks for the
/// longest pause there is, and is renewed when half of it is over; at the end the last one runs
/// out. A frame that is due waits for the NIC, and is one frame however long it waits. Not
/// thread-safe: the host owns it.
class PauseStorm {
 public:
  /// @param rate  of the host's NIC, in whose bit times pauses are counted
  PauseStorm(const PauseStormConfig& config, BitRate rate) noexcept
      : next_(config.on() ? Time{*config.begin} : kNever),
        end_(config.end ? Time{*config.end} : kNever),
        priority_(config.priority),
        period_(config.on() ? pause_renewal(rate) : Duration::zero()) {}

  /// Returns when the next frame is due.
  [[nodiscard]] Time next() const noexcept { return next_ < end_ ? next_ : kNever; }
  /// Returns whether a frame waits for the NIC.
  [[nodiscard]] bool waits() const noexcept { return waits_; }
  /// Lets a frame wait if it is due.
  void fire_due(Time now) noexcept {
    if (next() > now) return;
    waits_ = true;
    next_ = now + period_;
  }
  /// Writes the frame that waits into an empty buffer. @pre waits(). @param address  of the host
  void write(Packet& packet, std::uint32_t address) noexcept;

 private:
  Time next_;
  Time end_;
  std::uint8_t priority_;
  bool waits_ = false;
  Duration period_;
};

}  // namespace outrider::tg
