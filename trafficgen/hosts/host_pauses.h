#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/core/clock.h"
#include "common/core/pause_gate.h"
#include "common/core/pause_time.h"
#include "common/core/units.h"
#include "common/net/pause_frame.h"
#include "trafficgen/hosts/host_counters.h"
#include "trafficgen/hosts/nic_turns.h"

namespace outrider::tg {

/// A flow that no pause frame concerns.
inline constexpr std::uint8_t kNoPriority = kPausePriorities;

/// Stops the flows of a host's NIC whose priority the switch has paused (PFC, see PauseGate). A
/// flow whose turn it is while it may not send is put aside, and is queued again when the pause
/// ends. The segment being sent is not interrupted; signals, and replies to segments of no
/// connection, have no priority.
///
/// Pauses end without an event of their own: the host calls settle() at next(). A flow waits at the
/// NIC once, so no more are put aside than there are: make_room() makes room for all of them, and
/// nothing else here allocates. Not thread-safe: the host owns it.
class HostPauses {
 public:
  /// @param turns,counters of the host, must outlive this
  HostPauses(BitRate rate, NicTurns& turns, HostCounters& counters)
      : rate_(rate), turns_(turns), counters_(counters) {}

  /// Makes room for all flows of a priority. Call it when a flow is added, which may allocate.
  /// @param flows  that the host has, of whichever priority
  void make_room(std::uint8_t priority, std::size_t flows) {
    any_ = true;
    auto& aside = aside_[priority];
    if (flows > aside.capacity()) aside.reserve(std::max(flows, 2 * aside.capacity()));
  }
  /// Returns whether a flow has, or had, a priority: only then pause frames concern the host.
  [[nodiscard]] bool any() const noexcept { return any_; }
  [[nodiscard]] std::size_t room(std::uint8_t priority) const noexcept {
    return aside_[priority].capacity();
  }

  void on_frame(const PauseFrame& frame, Time now) noexcept {
    for (std::size_t p = 0; p < kPausePriorities; ++p)
      if (frame.concerns(p)) gates_[p].on_frame(pause_time(frame.quanta[p], rate_), now);
    settle(now);
  }
  /// Lets go what is no longer paused.
  void settle(Time now) noexcept {
    next_ = kNever;
    Duration paused{};
    for (std::size_t p = 0; p < kPausePriorities; ++p) {
      PauseGate& gate = gates_[p];
      gate.settle(now);
      next_ = std::min(next_, gate.until());
      paused += gate.paused_for(now);
      if (!gate.closed()) let_go(p);
    }
    counters_.paused_ns = static_cast<std::uint64_t>(paused.count());
  }
  /// Returns when settle() has something to do; kNever if no priority is paused.
  [[nodiscard]] Time next() const noexcept { return next_; }

  /// Returns whether a flow of that priority may not send. @pre settle() was called at next()
  [[nodiscard]] bool stops(std::uint8_t priority) const noexcept {
    return priority != kNoPriority && gates_[priority].closed();
  }
  /// Puts a flow aside if it may not send. @param number as NicTurns::take() returned it. @pre it
  /// was counted in make_room()
  [[nodiscard]] bool puts_aside(std::uint8_t priority, std::uint8_t nic_class,
                                std::uint32_t number) noexcept {
    if (!stops(priority)) [[likely]]
      return false;
    put_aside(priority, nic_class, number);
    return true;
  }

 private:
  [[gnu::noinline]] void put_aside(std::uint8_t priority, std::uint8_t nic_class,
                                   std::uint32_t number) noexcept {
    assert(aside_[priority].size() < room(priority));
    aside_[priority].push_back({number, nic_class});
  }
  struct Flow {
    std::uint32_t number;
    std::uint8_t nic_class;
  };

  void let_go(std::size_t priority) noexcept {
    for (const Flow& flow : aside_[priority]) turns_.push(flow.nic_class, flow.number);
    aside_[priority].clear();
  }

  BitRate rate_;
  NicTurns& turns_;
  HostCounters& counters_;
  std::array<PauseGate, kPausePriorities> gates_{};
  std::array<std::vector<Flow>, kPausePriorities> aside_{};
  Time next_ = kNever;
  bool any_ = false;
};

}  // namespace outrider::tg
