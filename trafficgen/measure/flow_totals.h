#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "common/core/clock.h"
#include "common/core/traffic_class.h"
#include "trafficgen/measure/goodput.h"
#include "trafficgen/transport/base/tcp_counters.h"

namespace outrider::tg {

/// One direction of one connection that carried data.
struct FlowReport {
  std::string name;
  TrafficClass traffic_class = TrafficClass::kBackground;
  std::uint64_t delivered_bytes = 0;
  std::uint64_t retransmitted = 0;
  std::uint64_t rtos_data = 0;
  std::uint64_t rtos_handshake = 0;
  std::uint64_t fast_recoveries = 0;
  std::uint64_t ece_reductions = 0;
};

/// Sums up the connections of one flow, which follow one another: the sender's counters and the
/// receiver's bytes. Not thread-safe.
class FlowTotals {
 public:
  FlowTotals(std::string name, TrafficClass c, GoodputSeries& goodput)
      : name_(std::move(name)), class_(c), goodput_(goodput) {}

  /// The receiver's connection has `total` bytes in order.
  void on_delivered(std::uint64_t total, Time now) noexcept {
    goodput_.add(class_, total - connection_delivered_, now);
    delivered_bytes_ += total - connection_delivered_;
    connection_delivered_ = total;
  }
  /// The receiver's next bytes come over a new connection.
  void on_new_receiver() noexcept { connection_delivered_ = 0; }
  /// The sender's connection is about to be destroyed.
  void on_sender_closed(const TcpCounters& c) noexcept { add(closed_, c); }

  [[nodiscard]] std::uint64_t delivered_bytes() const noexcept { return delivered_bytes_; }

  /// @param live counters of the sender's current connection; nullptr if there is none
  [[nodiscard]] FlowReport report(const TcpCounters* live) const {
    FlowReport r = closed_;
    if (live != nullptr) add(r, *live);
    r.name = name_;
    r.traffic_class = class_;
    r.delivered_bytes = delivered_bytes_;
    return r;
  }

 private:
  static void add(FlowReport& r, const TcpCounters& c) noexcept {
    r.retransmitted += c.retransmitted;
    r.rtos_data += c.rtos_data;
    r.rtos_handshake += c.rtos_handshake;
    r.fast_recoveries += c.fast_recoveries;
    r.ece_reductions += c.ece_reductions;
  }

  std::string name_;
  TrafficClass class_;
  GoodputSeries& goodput_;
  std::uint64_t delivered_bytes_ = 0;
  std::uint64_t connection_delivered_ = 0;
  FlowReport closed_;
};

}  // namespace outrider::tg
