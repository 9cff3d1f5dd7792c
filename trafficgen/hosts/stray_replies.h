#pragma once

#include <cstddef>

#include "trafficgen/core/fifo.h"
#include "trafficgen/frames/frame.h"
#include "trafficgen/hosts/host_counters.h"
#include "trafficgen/hosts/time_wait_table.h"

namespace outrider::tg {

/// Answers segments that belong to none of a host's connections, with resets and with the
/// acknowledgments of connections in TIME-WAIT. Answers wait for the NIC in a bounded queue; when
/// it is full, a segment is not answered. Not thread-safe: the host owns it.
class StrayReplies {
 public:
  /// @param events,counters must outlive this object
  StrayReplies(TcpEvents& events, HostCounters& counters)
      : events_(events), counters_(counters), time_waits_(events) {}

  [[nodiscard]] TcpEvents& events() noexcept { return events_; }
  [[nodiscard]] TimeWaitTable& time_waits() noexcept { return time_waits_; }
  /// Answers a segment of a connection in TIME-WAIT.
  /// @return false if there is no such connection, or the segment begins a new one
  [[nodiscard]] bool take_late(const ReceivedFrame& frame, Time now) noexcept;
  /// Answers a segment of no connection with RST (RFC 9293, section 3.5.2).
  void reset(const ReceivedFrame& frame) noexcept;
  /// Tells the peer of a connection that it is aborted. @param sequence the next one
  void abort(const FlowKey& flow, std::uint32_t sequence) noexcept;

  /// Returns true if nothing waits to be sent.
  [[nodiscard]] bool empty() const noexcept { return replies_.empty(); }
  /// Writes the next waiting answer.
  void write(Packet& packet, bool full_payload) noexcept {
    const Reply r = replies_.pop();
    write_frame(packet, r.flow, 0, r.segment, full_payload);
  }

 private:
  static constexpr std::size_t kMaxReplies = 64;
  struct Reply {
    FlowKey flow;
    TcpSegment segment;
  };

  TcpEvents& events_;
  HostCounters& counters_;
  TimeWaitTable time_waits_;
  Fifo<Reply> replies_{kMaxReplies};  ///< bounded to kMaxReplies
};

}  // namespace outrider::tg
