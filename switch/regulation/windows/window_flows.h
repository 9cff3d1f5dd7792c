#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/clock.h"
#include "common/core/flow_table.h"
#include "switch/regulation/windows/window_counters.h"
#include "switch/regulation/windows/window_flow.h"

namespace outrider {

/// Multiple of the window kept otherwise: a sender in recovery sends data beyond the hole while
/// the left edge does not move.
inline constexpr double kRecoveryRoom = 2;

/// What a window is chosen from, small enough for a register.
struct WindowAnswer {
  std::uint32_t acknowledgment;
  std::uint16_t window;
  bool sack_blocks;

  explicit WindowAnswer(const TcpView& s) noexcept
      : acknowledgment(s.acknowledgment), window(s.window), sack_blocks(s.sack_blocks) {}
};

/// The window that a rule wants a flow to have [payload bytes].
struct WindowTarget {
  double bytes = 0;
  WindowReason reason = WindowReason::kStanding;
};

/// The background flows of one queue, by their data direction. It follows what passes, and writes
/// the window that a rule chooses into answers. It leaves alone what may not be rewritten: flows
/// without a handshake, authenticated flows, flows that end, SYN and RST. A right edge never moves
/// left and is never beyond the receiver's, and a repeated ACK stays one.
///
/// Bounded: beyond `max_flows`, a new flow takes the place of one that has ended, has not completed
/// its handshake, or is silent. It looks at the next kVictimProbes flows in turn for one. O(1);
/// allocates only at construction. Not thread-safe.
class WindowFlows {
 public:
  /// @param max_flows > 0
  explicit WindowFlows(std::uint32_t max_flows) : index_(max_flows) { flows_.reserve(max_flows); }

  [[nodiscard, gnu::always_inline]] WindowFlow* find(const FlowKey& data_flow) noexcept {
    const std::uint32_t* at = index_.find(data_flow);
    return at == nullptr ? nullptr : &flows_[*at];
  }
  [[nodiscard]] const WindowFlow* find(const FlowKey& data_flow) const noexcept {
    return const_cast<WindowFlows*>(this)->find(data_flow);
  }

  struct Passed {
    WindowFlow* flow = nullptr;     ///< nullptr: it is in no flow, or outside of what was offered
    std::uint64_t fresh_bytes = 0;  ///< payload that passes for the first time
  };
  /// Takes any background segment of the data direction. @param departs when the queue will have
  /// sent it
  Passed take_data(const TcpView& s, Time now, Time departs) noexcept;

  struct Answered {
    WindowFlow* flow = nullptr;  ///< whose window a rule chooses; nullptr: `field` stands
    std::optional<std::uint16_t> field{};
  };
  /// Takes any background segment that comes back. A flow that it returns is known, and so are both
  /// halves of its round trip.
  [[nodiscard]] Answered take_answer(const TcpView& s, Time now) noexcept;
  /// Handles an answer that the flow did not take. @param acknowledges  ACK without SYN and RST
  [[nodiscard]] std::optional<std::uint16_t> refuse(const WindowFlow& f, WindowAnswer s,
                                                    bool acknowledges) noexcept;

  /// Has the answer tell the flow's sender a window. @pre the flow has taken the answer
  /// @return the new value of the window field; nothing: leave the field unchanged
  [[nodiscard]] std::optional<std::uint16_t> tell(WindowFlow& f, WindowAnswer s,
                                                  WindowTarget t) noexcept;
  /// Notes that the receiver's window stands. @pre as for tell()
  void leave(WindowFlow& f, const TcpView& s) noexcept {
    f.leave_alone(s);
    count(WindowReason::kReceiver);
  }

  [[nodiscard]] WindowCounters& counters() noexcept { return counters_; }
  [[nodiscard]] const WindowCounters& counters() const noexcept { return counters_; }
  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(flows_.size());
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const WindowFlow& f : flows_) visit(f);
  }
  static std::size_t bytes_per_flow() noexcept {
    return sizeof(WindowFlow) + 2 * (sizeof(FlowKey) + 2 * sizeof(std::uint32_t));
  }

 private:
  static constexpr std::size_t kVictimProbes = 8;

  WindowFlow* insert(const FlowKey& data_flow, Time now) noexcept;
  void count(WindowReason reason) noexcept { ++counters_.answers[reason]; }

  std::vector<WindowFlow> flows_;   ///< dense; capacity max_flows
  FlowTable<std::uint32_t> index_;  ///< data flow -> position in flows_
  std::size_t next_victim_ = 0;
  WindowCounters counters_{};
};

}  // namespace outrider
