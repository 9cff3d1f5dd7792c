#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"

namespace outrider {

enum class ThinkTime : std::uint8_t { kFixed, kExponential };

/// Connections that ask, are answered, think, and ask again: closed-loop load,
/// and with a long think time connections that are open and idle.
struct RequestFlowsConfig {
  std::string name;
  std::vector<std::string> from;  ///< host names of clients, paired with `to`
  std::vector<std::string> to;
  std::uint32_t connections = 1;  ///< per pair
  std::string transport;
  std::uint64_t request_bytes = 1000;
  std::uint64_t response_bytes = 1000;
  Duration think{};  ///< from an answer to the next request; mean
  ThinkTime think_time = ThinkTime::kExponential;
  Duration start{};
  Duration open_over{};  ///< the connections of a pair open evenly over this time
  std::uint16_t tcp_port = 30000;
  std::uint16_t server_ports = 1;     ///< connections take them in turn
  std::uint32_t latency_samples = 0;  ///< raw ones kept, of each pair
};

inline constexpr auto kThinkTimes =
    choices<ThinkTime>({{"fixed", ThinkTime::kFixed}, {"exponential", ThinkTime::kExponential}});

template <class V>
void describe(V& v, RequestFlowsConfig& c) {
  v.value("name", c.name, Presence::kRequired);
  v.value("from", c.from, Presence::kRequired);
  v.value("to", c.to, Presence::kRequired);
  v.value("connections", c.connections);
  v.value("transport", c.transport, Presence::kRequired);
  v.bytes("request_bytes", c.request_bytes);
  v.bytes("response_bytes", c.response_bytes);
  v.duration("think", c.think);
  v.choice("think_time", c.think_time, kThinkTimes);
  v.duration("start", c.start);
  v.duration("open_over", c.open_over);
  v.value("tcp_port", c.tcp_port);
  v.value("server_ports", c.server_ports);
  v.value("latency_samples", c.latency_samples);
}

/// All rules but those that refer to hosts and transports.
void check(const Checks& at, const RequestFlowsConfig& flows);

}  // namespace outrider
