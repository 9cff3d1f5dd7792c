#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "trafficgen/hosts/connection_sample.h"
#include "trafficgen/transport/connection/connection.h"

namespace outrider::tg {

/// Writes the state of what a connection sends, without instant and ends.
/// @return false if it has had nothing to send
[[nodiscard]] bool sample(const TcpConnection& connection, ConnectionSample& out) noexcept;

/// Keeps samples of connections, at most so many. Memory is reserved at construction. Not
/// thread-safe.
class ConnectionSeries {
 public:
  explicit ConnectionSeries(std::uint32_t max_samples) : max_samples_(max_samples) {
    samples_.reserve(max_samples);
  }

  [[nodiscard]] bool full() const noexcept { return samples_.size() == max_samples_; }
  /// @param host  number of the sender's host. @param flow  in the sender's direction
  /// @param state  without instant and ends. @pre !full()
  void add(std::uint32_t host, const FlowKey& flow, const ConnectionSample& state,
           Time now) noexcept {
    samples_.push_back({host, flow.destination_address, state});
    ConnectionSample& kept = samples_.back().sample;
    kept.at_ns = now.time_since_epoch().count();
    kept.source_port = flow.source_port;
    kept.destination_port = flow.destination_port;
  }
  /// Returns the samples of a host, in the order in which they were taken.
  /// @param names  of hosts, by address
  [[nodiscard]] std::vector<ConnectionSample> of_host(
      std::uint32_t host, const std::string& name,
      const std::map<std::uint32_t, std::string>& names) const;

 private:
  struct Kept {
    std::uint32_t host = 0;
    std::uint32_t peer_address = 0;
    ConnectionSample sample;  ///< the names of its ends are empty
  };

  std::vector<Kept> samples_;
  std::uint32_t max_samples_;
};

}  // namespace outrider::tg
