#pragma once

#include <cstddef>

#include "common/core/fifo.h"
#include "trafficgen/hosts/frame.h"
#include "trafficgen/hosts/host_counters.h"
#include "trafficgen/hosts/time_wait_table.h"

namespace outrider::tg {

/// What a host answers to segments that belong to none of its connections: resets, and what a
/// connection in TIME-WAIT acknowledges. Answers wait for the NIC; what finds no room among them
/// is not answered. Not thread-safe: the host owns it.
class StrayReplies {
 public:
  /// @param events,counters must outlive this
  StrayReplies(TcpEvents& events, HostCounters& counters)
      : events_(events), counters_(counters), time_waits_(events) {}

  [[nodiscard]] TimeWaitTable& time_waits() noexcept { return time_waits_; }
  /// A segment of a connection in TIME-WAIT.
  /// @return false if there is none, or the segment begins another
  [[nodiscard]] bool take_late(const ReceivedFrame& frame, Time now) noexcept;
  /// RFC 9293, section 3.5.2: what belongs to no connection is answered with RST.
  void reset(const ReceivedFrame& frame) noexcept;

  /// Nothing waits to be sent.
  [[nodiscard]] bool empty() const noexcept { return replies_.empty(); }
  /// The next one that waits.
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
  Fifo<Reply> replies_{kMaxReplies};  ///< bounded by that
};

}  // namespace outrider::tg
