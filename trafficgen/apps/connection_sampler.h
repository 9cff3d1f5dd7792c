#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/runtime/event_loop.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/measure/connection_series.h"

namespace outrider::tg {

/// Notes the state of every connection that has had data to send, over any transport, at fixed
/// times, until its series is full. A sample walks over all connections and datagram endpoints of
/// the lcore's hosts, so it is meant for few. Not thread-safe.
class ConnectionSampler final : public EventSource {
 public:
  /// @param hosts  as GeneratorHosts has them; must outlive the sampler, as `loop` must
  /// @param period  > 0
  ConnectionSampler(EventLoop& loop, const std::vector<std::unique_ptr<Host>>& hosts,
                    Duration period, std::uint32_t max_samples)
      : loop_(loop), id_(loop.add(*this)), hosts_(hosts), period_(period), series_(max_samples) {}

  /// Takes the first sample at `at`. Call it once.
  void start(Time at) noexcept { loop_.schedule(id_, at); }

  Time fire(Time now) noexcept override {
    ConnectionSample state;
    for (std::uint32_t h = 0; h < hosts_.size(); ++h) {
      if (hosts_[h] == nullptr) continue;
      hosts_[h]->connections().table().for_each([&](const TcpConnection& connection) {
        if (!series_.full() && sample(connection, state))
          series_.add(h, connection.flow(), state, now);
      });
      hosts_[h]->datagrams().for_each([&](const DatagramEndpoint& endpoint) {
        if (!series_.full() && endpoint.sample(state, now))
          series_.add(h, endpoint.flow(), state, now);
      });
    }
    return series_.full() ? kNever : now + period_;
  }

  [[nodiscard]] const ConnectionSeries& series() const noexcept { return series_; }

 private:
  EventLoop& loop_;
  SourceId id_;
  const std::vector<std::unique_ptr<Host>>& hosts_;
  Duration period_;
  ConnectionSeries series_;
};

}  // namespace outrider::tg
