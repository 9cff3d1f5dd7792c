#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "switch/regulation/windows/burst_flights.h"
#include "switch/regulation/windows/flow_rounds.h"
#include "switch/regulation/windows/window_path.h"

namespace outrider {

/// Says when the windows of background through a bottleneck are held for bursts: whether they
/// stand, are held, or open again. They are held from the begin of an announced or predicted burst
/// until the last announced (or expected) byte is near, or regulation has ended. Then they open
/// over kRelease_rtts, and stand once that has settled.
///
/// A sender hears of an opened window with the flow's next answer, half a round trip away on
/// average, and its data are here `up` later. The last bytes of the bursts may have left the queue
/// by then. So the release may begin that much before these bytes enter the queue.
///
/// Time never decreases. O(1); nothing allocates after construction. Not thread-safe.
class HoldPhase {
 public:
  /// Time over which held windows open again, in round trips.
  static constexpr double kRelease_rtts = 1;

  /// @param max_bursts  announced bursts that can be tracked separately, > 0
  explicit HoldPhase(std::uint32_t max_bursts) : bursts_(max_bursts) {}

  void on_announced(Time now) noexcept { announced_at_ = now; }
  /// These begin to hold windows for a burst. @return false if there is no room for it
  bool on_start(const FlowKey& flow, std::uint32_t announced_sequence, std::uint64_t bytes,
                Time now) noexcept {
    return bursts_.on_start(flow, announced_sequence, bytes) && hold(now);
  }
  bool on_prediction(std::uint32_t address, std::uint64_t bytes, Time now) noexcept {
    return bursts_.on_prediction(address, bytes) && hold(now);
  }
  void on_burst_payload(const FlowKey& flow, std::uint32_t sequence, std::uint32_t bytes) noexcept {
    if (bursts_.on_payload(flow, sequence, bytes)) phase_ = Phase::kHolding;
  }
  void on_burst_ack(const FlowKey& flow, std::uint32_t acknowledgment) noexcept {
    if (bursts_.any_open()) bursts_.on_ack(flow, acknowledgment);
  }

  /// Takes over the threshold in force; nothing: the queue is not regulated.
  /// @return whether move_on() has to follow
  [[nodiscard]] bool note_threshold(const std::optional<std::uint16_t>& threshold) noexcept {
    if (threshold) h_packets_ = *threshold;
    else if (bursts_.any_open()) bursts_.close_all();
    return phase_ != Phase::kStanding &&
           (phase_ != Phase::kHolding || !bursts_.any_of_unknown_length());
  }
  /// Goes on to the next phase if it is time. @return whether it has released the windows
  bool move_on(const WindowPath& path, const FlowRounds& rounds, const BottleneckQueue& queue,
               Time now) noexcept;

  [[nodiscard]] bool standing() const noexcept { return phase_ == Phase::kStanding; }
  [[nodiscard]] bool holding() const noexcept { return phase_ == Phase::kHolding; }
  /// Returns whether a burst was announced or held for recently.
  [[nodiscard]] bool expects_bursts(Time now) const noexcept;
  /// Returns whether a flow is held on although flows on average are released: its data would be
  /// here before the last bytes of the bursts, as its round trip is much shorter than theirs.
  [[nodiscard]] bool holds_on(const WindowFlow& f, const WindowPath& path, const FlowRounds& rounds,
                              const BottleneckQueue& queue) const noexcept;
  /// Returns whether the flow's window is on its way from held to standing. The flow's own round
  /// trips count, which may be many times those of the flows on average.
  [[nodiscard]] bool opens(const WindowFlow& f, double own_rtt_ns, Time now) const noexcept;
  /// Returns how long the flow's window has been opening. A flow whose round trip is short may have
  /// been held on when the others were released. @pre opens()
  [[nodiscard]] Duration opening_for(const WindowFlow& f, Time now) const noexcept {
    return now - std::max(released_at_, f.held_at);
  }

  /// Returns the latest threshold while the queue was regulated.
  [[nodiscard]] std::uint16_t h_packets() const noexcept { return h_packets_; }
  /// Returns what open bursts have in flight.
  [[nodiscard]] std::uint64_t in_flight_bytes() const noexcept { return bursts_.in_flight_bytes(); }

 private:
  enum class Phase : std::uint8_t { kStanding, kHolding, kReleasing };
  /// Windows open in steps, one per answer of a held flow, which fills the queue in lumps. These
  /// lumps say nothing about the senders' windows, so flows are spared marks for this long.
  static constexpr double kSettle_rtts = 2;

  bool hold(Time now) noexcept {
    phase_ = Phase::kHolding;
    on_announced(now);
    return true;
  }
  [[nodiscard]] bool bursts_end_within(double ns, const WindowPath& path, const FlowRounds& rounds,
                                       const BottleneckQueue& queue) const noexcept;

  BurstFlights bursts_;
  Phase phase_ = Phase::kStanding;
  std::uint16_t h_packets_ = 0;
  Time released_at_{};
  std::optional<Time> announced_at_;  ///< latest START or begin of regulation
};

}  // namespace outrider
