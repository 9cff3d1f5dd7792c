#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/core/units.h"
#include "switch/regulation/policy/window_policy.h"
#include "switch/regulation/windows/tcp_view.h"
#include "switch/regulation/windows/window_counters.h"
#include "switch/regulation/windows/window_flows.h"

namespace outrider {

/// Holds every background flow of TCP through one egress queue at its fair share of what fills the
/// path and the queue up to h, all the time and without any signal:
///
///   (capacity x RTT + h) / active flows, at least `least_segments`, in whole segments.
///
/// RTT is the flow's own, without queueing, so that all flows get the same rate. A flow is active
/// if it has sent payload in this round or in the one before, of kRound_rtts mean round trips with
/// h waiting each; before the first answer there is one round. So a new flow counts with its first
/// payload, and a flow that ends or falls idle leaves its share to the others 4 to 8 such round
/// trips later. Flows that cannot be held count too, as they take their share.
///
/// Shares are an upper bound. A flow that needs less leaves the rest unused while it is active, and
/// above (capacity x RTT + h) / `least_segments` flows the queue grows. A first flight is as large
/// as the SYN-ACK, whose window is not scaled, allows. What may be rewritten: see WindowFlows.
///
/// Time never decreases. O(1) per segment; nothing allocates after construction. Not thread-safe:
/// the lcore of the egress port owns it.
///
/// Source: RWNDQ (Abdelmoniem and Bensaou, "Reconciling Mice and Elephants in Data Center
/// Networks", CloudNet 2015) and FairQ (arXiv 2401.04850, 2012.00339), which write shares into
/// acknowledgments. Others that rewrite windows on the way: IQM and HyGenICC, of the same group,
/// AC/DC TCP (SIGCOMM 2016), TFC (EuroSys 2016). Deviations: RWNDQ moves one window per port, every
/// few milliseconds, towards a queue of a quarter of the buffer, and divides it by the connections
/// that SYN-ACK, FIN and RST count. Here the share follows from capacity, RTT and h at once, idle
/// connections do not count, each flow has its own RTT and window scale, no right edge moves left,
/// and flows of jobs are not held.
class FairShare {
 public:
  /// @param overhead_bytes what a frame costs beyond its own bytes at the drain rate
  /// @param h_packets that may wait
  FairShare(const WindowPolicy& policy, BitRate drain_rate, std::uint32_t overhead_bytes,
            std::uint16_t h_packets);

  /// Handles a background segment that reaches the queue.
  /// @param waiting_bytes  in the queue, in the layer of the drain rate
  void on_data(const TcpView& s, std::uint64_t waiting_bytes, Time now) noexcept;
  /// Handles a background segment that comes back through the port.
  /// @return the new value of its window field; nothing: leave the field unchanged
  [[nodiscard]] std::optional<std::uint16_t> on_answer(const TcpView& s, Time now) noexcept;

  /// Returns the flows among which the queue is shared now, at least 1.
  [[nodiscard]] std::uint32_t active_flows() const noexcept {
    return std::max({active_last_, active_now_, 1U});
  }
  [[nodiscard]] const WindowCounters& counters() const noexcept { return flows_.counters(); }

 private:
  void note_active(WindowFlow& f, Time now) noexcept;
  [[nodiscard]] double rtt_ns(const WindowFlow& f) const noexcept;
  [[nodiscard]] WindowTarget target(const WindowFlow& f) const noexcept;

  [[nodiscard]] Duration round() const noexcept;

  static constexpr double kRound_rtts = 4;
  static constexpr double kRttSmoothing = 1.0 / 16;

  WindowPolicy policy_;
  double bytes_per_ns_;
  std::uint32_t overhead_bytes_;
  std::uint16_t h_packets_;
  WindowFlows flows_;
  double rtt_ns_ = 0;  ///< smoothed over the answers of all flows; 0: not known yet
  Time round_began_{};
  std::uint32_t round_ = 1;
  std::uint32_t active_last_ = 0, active_now_ = 0;  ///< in the last round and in this one
};

}  // namespace outrider
