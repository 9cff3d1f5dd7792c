#pragma once

#include <cstdint>

#include "common/core/clock.h"
#include "switch/regulation/policy/window_policy.h"
#include "switch/regulation/windows/flow_rounds.h"
#include "switch/regulation/windows/hold_phase.h"
#include "switch/regulation/windows/window_flow.h"
#include "switch/regulation/windows/window_flows.h"
#include "switch/regulation/windows/window_path.h"

namespace outrider {

/// What the windows of a WindowClamp are chosen from.
struct WindowState {
  WindowPolicy policy;
  WindowPath path;
  bool remote = false;  ///< the bottleneck is further on
  HoldPhase phase;
  FlowRounds rounds;
};

/// Returns the time from which an answer to a packet that enters now is timed. Of a queue further
/// on, it is the time at which the packet passes: what waits there is to be measured.
inline Time timed_from(const WindowState& c, const BottleneckQueue& queue, Time now) noexcept {
  return c.remote ? now : now + round_trips(1, c.path.drain_ns(queue));
}

/// Returns the window that a flow is to have. It notes in the flow that it is held.
/// @pre f.known(), and the flow has taken the answer that tells it
[[nodiscard]] WindowTarget target_of(const WindowState& c, WindowFlow& f,
                                     const BottleneckQueue& queue, Time now) noexcept;

/// Accounts new payload of a held flow that reaches the queue. @param bytes > 0
void pay_floor(const WindowState& c, WindowFlow& f, std::uint64_t bytes,
               const BottleneckQueue& queue, Time now) noexcept;

/// Returns whether target_of() certainly leaves the receiver its whole window: a small flow gets
/// its bandwidth-delay product at least, and the receiver offers no more.
inline bool leaves_all(const WindowPath& path, const WindowFlow& f, std::uint16_t window,
                       double own_rtt_ns) noexcept {
  if (f.duplicate) return false;
  const double pipe = path.pipe_bytes(f, own_rtt_ns);
  return f.sent_less_than(pipe) && static_cast<double>(std::int32_t{window} << f.scale()) <= pipe;
}

}  // namespace outrider
