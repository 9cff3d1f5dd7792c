#include "trafficgen/background/request_config.h"

#include "common/config/quantities.h"

namespace outrider {
namespace {
constexpr std::uint64_t kMaxConnections = 1'000'000;
constexpr std::uint64_t kConnectionsOfAPort = 32768;  // source ports of a host
constexpr std::uint32_t kMaxSamples = 100'000'000;
constexpr std::uint64_t kMaxMessageBytes = 1ULL << 40;
}  // namespace

void check(const Checks& at, const RequestFlowsConfig& flows) {
  at.in_range("connections", flows.connections, 1, kMaxConnections);
  at.in_range("request_bytes", flows.request_bytes, 1, kMaxMessageBytes, "bytes");
  at.in_range("response_bytes", flows.response_bytes, 1, kMaxMessageBytes, "bytes");
  at.in_range("latency_samples", flows.latency_samples, 0, kMaxSamples);
  at.not_negative("think", flows.think);
  at.not_negative("start", flows.start);
  at.not_negative("open_over", flows.open_over);
  at.require(flows.server_ports != 0 && flows.tcp_port + flows.server_ports <= 65536,
             "server_ports", std::to_string(flows.server_ports),
             "must be at least 1, and tcp_port + server_ports at most 65536");
  at.require(flows.connections <= kConnectionsOfAPort * flows.server_ports, "connections",
             std::to_string(flows.connections),
             "must be at most 32768 for each of the server_ports (" +
                 std::to_string(flows.server_ports) + "): a host has no more source ports");
}

}  // namespace outrider
