#include "trafficgen/config/transport_reserve.h"

#include <algorithm>
#include <string>

#include "trafficgen/transport/sender/sender.h"

namespace outrider::tg {
namespace {

// Addresses: memory is touched when it is used.
constexpr std::uint64_t kMaxDerivedFlights = 1U << 17;    // 70 MB
constexpr std::uint64_t kMaxDerivedSegments = 1U << 22;   // 100 MB
constexpr std::uint64_t kMaxDerivedDisorders = 1U << 17;  // 240 MB
constexpr std::uint64_t kMinObjects = 64;
constexpr std::uint64_t kMaxObjects = 1U << 24;
constexpr std::uint64_t kMaxSegments = 1U << 26;

/// Number of connections' ends, and the largest window of one.
struct Need {
  std::uint64_t ends = 0;
  std::uint64_t window_segments = 0;
  std::uint64_t segments = 0;

  void add(const GeneratorConfig& c, const std::string& transport, std::uint64_t connections) {
    const auto it = std::ranges::find(c.transports, transport, &TransportConfig::name);
    if (it == c.transports.end() || it->protocol != TransportProtocol::kTcp) return;
    const std::uint64_t window = segments_limit(it->tcp);
    ends += 2 * connections;
    segments += 2 * connections * window;
    window_segments = std::max(window_segments, window);
  }
};

Need need_of(const GeneratorConfig& c) {
  Need need;
  for (const auto& job : c.jobs) need.add(c, job.transport, connections_of(job));
  for (const auto& flows : c.long_flows)
    need.add(c, flows.transport, flows.from.size() * flows.flows_per_pair);
  for (const auto& flows : c.requests)
    need.add(c, flows.transport, flows.from.size() * flows.connections);
  for (const auto& t : c.transfers) {
    // Transfers opened here follow one another, but the last one's end may still be closing.
    const std::string& opener = t.opener == Opener::kSender ? t.from : t.to;
    const bool ours = std::ranges::find(c.hosts, opener, &HostConfig::name) != c.hosts.end();
    need.add(c, t.transport, ours ? 2 : t.count);
  }
  for (const auto& flows : c.flows)
    need.add(c, flows.transport, flows.max_open.value_or(kMaxOpenFlows));
  return need;
}

std::uint32_t limited(std::uint64_t wanted, std::uint64_t most) {
  return static_cast<std::uint32_t>(std::clamp(wanted, kMinObjects, most));
}

}  // namespace

TransportMemory::Setup transport_reserve(const GeneratorConfig& config) {
  const Need need = need_of(config);
  const TransportMemoryConfig& c = config.transport_memory;
  // While a ring that doubles is copied, both copies exist.
  const std::uint64_t least = 2 * need.window_segments;
  const std::uint64_t segments = need.segments + need.window_segments;
  return {.flights = c.flights.value_or(limited(need.ends, kMaxDerivedFlights)),
          .segments = c.segments.value_or(limited(segments, std::max(kMaxDerivedSegments, least))),
          .disorders = limited(need.ends, kMaxDerivedDisorders)};
}

std::vector<std::uint32_t> expected_connections(const GeneratorConfig& config) {
  std::vector<std::uint32_t> expected(config.hosts.size());
  const auto add = [&](const std::vector<std::string>& side, std::uint32_t each) {
    for (const auto& name : side) {
      const auto host = std::ranges::find(config.hosts, name, &HostConfig::name);
      expected[static_cast<std::size_t>(host - config.hosts.begin())] += each;
    }
  };
  const auto add_pairs = [&](const auto& flows, std::uint32_t each) {
    add(flows.from, each);
    add(flows.to, each);
  };
  for (const auto& flows : config.long_flows) add_pairs(flows, flows.flows_per_pair);
  for (const auto& flows : config.requests) add_pairs(flows, flows.connections);
  return expected;
}

void check_transport_memory(const Checks& at, const GeneratorConfig& config) {
  const TransportMemoryConfig& c = config.transport_memory;
  if (!c.segments) return;
  if (!at.in_range("segments", *c.segments, 1, kMaxSegments, "segments")) return;
  const std::uint64_t least = 2 * need_of(config).window_segments;
  at.require(*c.segments >= least, "segments", std::to_string(*c.segments) + " segments",
             "must be at least " + std::to_string(least) +
                 ", twice the largest receive_buffer_bytes / mss_bytes + 64 as a power of two");
}

void describe(Settings& v, TransportMemoryConfig& c) {
  v.value("flights", c.flights,
          {.range = integers(1, kMaxObjects),
           .absent = "an end each, at most 131072",
           .help = "senders with data in flight at once, 512 bytes each"});
  v.value("segments", c.segments,
          {.range = integers(1, kMaxSegments, "segments"),
           .accepts = "at least twice the largest window of a transport",
           .absent = "a full window in each end and one more, at most 4194304",
           .help = "segments in flight beyond 8 per sender, 24 bytes each; a window is "
                   "`receive_buffer_bytes` / `mss_bytes` + 64, as a power of two"});
}

}  // namespace outrider::tg
