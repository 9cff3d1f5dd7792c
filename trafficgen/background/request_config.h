#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"

namespace outrider::tg {

enum class ThinkTime : std::uint8_t { kFixed, kExponential };

/// Connections that send a request, receive an answer, think and repeat: closed-loop load. With a
/// long think time the connections are open and idle.
struct RequestFlowsConfig {
  std::string name;
  std::vector<std::string> from;  ///< host names of clients, paired with `to`
  std::vector<std::string> to;
  std::uint32_t connections = 1;  ///< per pair
  std::string transport;
  std::uint64_t request_bytes = 1000;
  std::uint64_t response_bytes = 1000;
  Duration think{};  ///< mean time from an answer to the next request
  ThinkTime think_time = ThinkTime::kExponential;
  Duration start{};
  Duration open_over{};  ///< the connections of a pair open evenly over this time
  std::uint16_t tcp_port = 30000;
  std::uint16_t server_ports = 1;     ///< number of ports, used by the connections in turn
  std::uint32_t latency_samples = 0;  ///< raw samples kept per pair
};

inline constexpr auto kThinkTimes =
    choices<ThinkTime>({{"fixed", ThinkTime::kFixed}, {"exponential", ThinkTime::kExponential}});

void describe(Settings& v, RequestFlowsConfig& c);

/// Checks all rules except those that refer to hosts and transports.
void check(const Checks& at, const RequestFlowsConfig& flows);

}  // namespace outrider::tg
