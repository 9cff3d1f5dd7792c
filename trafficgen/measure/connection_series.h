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
    const TcpCounters& counters = connection.counters();
    samples_.push_back({host,
                        {.at_ns = now.time_since_epoch().count(),
                         .host = {},
                         .source_port = connection.flow().source_port,
                         .destination_port = connection.flow().destination_port,
                         .mss_bytes = sender.state().stream.mss_bytes(),
                         .cwnd_bytes = sender.state().window.bytes(),
                         .ssthresh_bytes = sender.state().window.control().ssthresh_bytes(),
                         .in_flight_bytes = sender.state().scoreboard.pipe_bytes(),
                         .acked_bytes = connection.stream().acked_bytes(),
                         .srtt_ns = sender.state().timer.srtt().count(),
                         .retransmitted = counters.retransmitted,
                         .rtos_data = counters.rtos_data,
                         .fast_recoveries = counters.fast_recoveries,
                         .ece_reductions = counters.ece_reductions}});
  }
  /// Returns the samples of a host, in the order in which they were taken.
  [[nodiscard]] std::vector<ConnectionSample> of_host(std::uint32_t host,
                                                      const std::string& name) const {
    std::vector<ConnectionSample> all;
    for (const Kept& k : samples_) {
      if (k.host != host) continue;
      all.push_back(k.sample);
      all.back().host = name;
    }
    return all;
  }

 private:
  struct Kept {
    std::uint32_t host = 0;
    ConnectionSample sample;  ///< its host's name is empty
  };

  std::vector<Kept> samples_;
  std::uint32_t max_samples_;
};

}  // namespace outrider::tg
