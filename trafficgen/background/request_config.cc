#include "trafficgen/background/request_config.h"

#include "common/config/quantities.h"

namespace outrider::tg {
namespace {
constexpr std::uint64_t kMaxConnections = 1'000'000;
constexpr std::uint64_t kConnectionsOfAPort = 32768;  // source ports of a host
constexpr std::uint32_t kMaxSamples = 100'000'000;
constexpr std::uint64_t kMaxMessageBytes = 1ULL << 40;
}  // namespace

void check(const Checks& at, const RequestFlowsConfig& flows) {
  at.require(flows.server_ports != 0 && flows.tcp_port + flows.server_ports <= 65536,
             "server_ports", std::to_string(flows.server_ports),
             "must be at least 1, and tcp_port + server_ports at most 65536");
  at.require(flows.connections <= kConnectionsOfAPort * flows.server_ports, "connections",
             std::to_string(flows.connections),
             "must be at most 32768 for each of the server_ports (" +
                 std::to_string(flows.server_ports) + "): a host has no more source ports");
}

void describe(Settings& v, RequestFlowsConfig& c) {
  v.value("name", c.name, {.required = true, .accepts = "unique"});
  v.value("from", c.from,
          {.required = true,
           .accepts = "hosts, paired; a pair has two different hosts",
           .help = "clients and servers"});
  v.value("to", c.to,
          {.required = true,
           .accepts = "hosts, paired; a pair has two different hosts",
           .help = "clients and servers"});
  v.value("connections", c.connections,
          {.range = integers(1, kMaxConnections),
           .accepts = "at most 32768 for each of the `server_ports`",
           .help = "of each pair"});
  v.value("transport", c.transport, {.required = true, .accepts = "name of a `[[transport]]`"});
  v.bytes("request_bytes", c.request_bytes,
          {.range = integers(1, kMaxMessageBytes, "bytes"), .help = "payload"});
  v.bytes("response_bytes", c.response_bytes,
          {.range = integers(1, kMaxMessageBytes, "bytes"), .help = "payload"});
  v.duration("think", c.think,
             {.range = durations_from(Duration::zero()),
              .help = "mean time from an answer to the next request"});
  v.choice("think_time", c.think_time, kThinkTimes, {.help = "its distribution, by seed"});
  v.duration(
      "start", c.start,
      {.range = durations_from(Duration::zero()), .help = "when the first connection opens"});
  v.duration("open_over", c.open_over,
             {.range = durations_from(Duration::zero()),
              .help = "the connections of a pair open evenly over this time"});
  v.value("tcp_port", c.tcp_port,
          {.range = integers(1, 65535), .help = "first port of the servers"});
  v.value("server_ports", c.server_ports,
          {.accepts = "1 and above", .help = "ports that connections take in turn"});
  v.value("latency_samples", c.latency_samples,
          {.range = integers(0, kMaxSamples),
           .help = "raw latencies kept of each pair, for `--csv` and the report; 16 bytes each"});
}

}  // namespace outrider::tg
