#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "trafficgen/measure/connection_sample.h"
#include "trafficgen/transport/connection/connection.h"

namespace outrider::tg {

/// Keeps samples of connections, at most so many. Memory is reserved at construction. Not
/// thread-safe.
class ConnectionSeries {
 public:
  explicit ConnectionSeries(std::uint32_t max_samples) : max_samples_(max_samples) {
    samples_.reserve(max_samples);
  }

  [[nodiscard]] bool full() const noexcept { return samples_.size() == max_samples_; }
  /// @param host  number of the sender's host. @pre !full()
  void add(std::uint32_t host, const TcpConnection& connection, Time now) noexcept {
    const TcpSender& sender = connection.sender();
    samples_.push_back({.at = now,
                        .flow = connection.flow(),
                        .host = host,
                        .mss_bytes = sender.stream().mss_bytes(),
                        .cwnd_bytes = sender.window().bytes(),
                        .ssthresh_bytes = sender.window().control().ssthresh_bytes(),
                        .in_flight_bytes = sender.in_flight_bytes(),
                        .acked_bytes = connection.acked_bytes(),
                        .srtt = sender.timer().srtt(),
                        .counters = connection.counters()});
  }
  /// Returns the samples of a host, in the order in which they were taken.
  [[nodiscard]] std::vector<ConnectionSample> of_host(std::uint32_t host,
                                                      const std::string& name) const {
    std::vector<ConnectionSample> all;
    for (const Kept& k : samples_)
      if (k.host == host) all.push_back(named(k, name));
    return all;
  }

 private:
  struct Kept {
    Time at{};
    FlowKey flow;
    std::uint32_t host = 0;
    std::uint32_t mss_bytes = 0;
    std::uint32_t cwnd_bytes = 0;
    std::uint32_t ssthresh_bytes = 0;
    std::uint32_t in_flight_bytes = 0;
    std::uint64_t acked_bytes = 0;
    Duration srtt{};
    TcpCounters counters;
  };

  static ConnectionSample named(const Kept& k, const std::string& host) {
    return {.at_ns = k.at.time_since_epoch().count(),
            .host = host,
            .source_port = k.flow.source_port,
            .destination_port = k.flow.destination_port,
            .mss_bytes = k.mss_bytes,
            .cwnd_bytes = k.cwnd_bytes,
            .ssthresh_bytes = k.ssthresh_bytes,
            .in_flight_bytes = k.in_flight_bytes,
            .acked_bytes = k.acked_bytes,
            .srtt_ns = k.srtt.count(),
            .retransmitted = k.counters.retransmitted,
            .rtos_data = k.counters.rtos_data,
            .fast_recoveries = k.counters.fast_recoveries,
            .ece_reductions = k.counters.ece_reductions};
  }

  std::vector<Kept> samples_;
  std::uint32_t max_samples_;
};

}  // namespace outrider::tg
