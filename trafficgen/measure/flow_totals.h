#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "common/core/clock.h"
#include "common/core/figure.h"
#include "common/core/traffic_class.h"
#include "trafficgen/measure/goodput.h"
#include "trafficgen/transport/base/tcp_counters.h"

namespace outrider::tg {

/// Counts of one direction of one connection that carries data, and of those that follow it.
struct FlowCounts {
  std::uint64_t delivered_bytes = 0;
  std::uint64_t retransmitted = 0;
  std::uint64_t rtos_data = 0;
  std::uint64_t rtos_handshake = 0;
  std::uint64_t fast_recoveries = 0;
  std::uint64_t ece_reductions = 0;
  std::uint64_t cnps_received = 0;

  FlowCounts& operator+=(const FlowCounts& o) noexcept {
    delivered_bytes += o.delivered_bytes;
    retransmitted += o.retransmitted;
    rtos_data += o.rtos_data;
    rtos_handshake += o.rtos_handshake;
    fast_recoveries += o.fast_recoveries;
    ece_reductions += o.ece_reductions;
    cnps_received += o.cnps_received;
    return *this;
  }
  FlowCounts& operator-=(const FlowCounts& o) noexcept {
    delivered_bytes -= o.delivered_bytes;
    retransmitted -= o.retransmitted;
    rtos_data -= o.rtos_data;
    rtos_handshake -= o.rtos_handshake;
    fast_recoveries -= o.fast_recoveries;
    ece_reductions -= o.ece_reductions;
    cnps_received -= o.cnps_received;
    return *this;
  }
};

/// Returns what a connection's sender has counted, without what was delivered.
[[nodiscard]] inline FlowCounts counts_of(const TcpCounters& c) noexcept {
  return {.retransmitted = c.retransmitted,
          .rtos_data = c.rtos_data,
          .rtos_handshake = c.rtos_handshake,
          .fast_recoveries = c.fast_recoveries,
          .ece_reductions = c.ece_reductions};
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, FlowCounts>
void fields(V& v, R& r) {
  v.value(counter("delivered_bytes", "bytes", "Payload that was delivered in order"),
          r.delivered_bytes);
  v.value(counter("retransmitted", "packets", "Packets of data that were sent again"),
          r.retransmitted);
  v.value(counter("rtos_data", "timeouts", "Retransmission time-outs of data"), r.rtos_data);
  v.value(counter("rtos_handshake", "timeouts", "Retransmission time-outs of handshakes"),
          r.rtos_handshake);
  v.value(counter("fast_recoveries", "recoveries", "Recoveries without a time-out"),
          r.fast_recoveries);
  v.value(counter("ece_reductions", "reductions", "Reductions for marks that were echoed"),
          r.ece_reductions);
  v.value(counter("cnps_received", "packets", "Congestion notification packets received"),
          r.cnps_received);
}

struct FlowReport : FlowCounts {
  std::string name;
  TrafficClass traffic_class = TrafficClass::kBackground;
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
  void on_sender_closed(const TcpCounters& c) noexcept { closed_ += counts_of(c); }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::uint64_t delivered_bytes() const noexcept { return delivered_bytes_; }

  /// @param live counters of the sender's current connection; nullptr if there is none
  [[nodiscard]] FlowCounts counts(const TcpCounters* live) const noexcept {
    FlowCounts counts = closed_;
    if (live != nullptr) counts += counts_of(*live);
    counts.delivered_bytes = delivered_bytes_;
    return counts;
  }
  /// Returns these counts as a report. @param live as above
  [[nodiscard]] FlowReport report(const TcpCounters* live) const { return named(counts(live)); }
  [[nodiscard]] FlowReport named(const FlowCounts& counts) const { return {counts, name_, class_}; }

 private:
  std::string name_;
  TrafficClass class_;
  GoodputSeries& goodput_;
  std::uint64_t delivered_bytes_ = 0;
  std::uint64_t connection_delivered_ = 0;
  FlowCounts closed_;
};

}  // namespace outrider::tg
