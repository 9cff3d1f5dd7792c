#include "trafficgen/streams/engine/stream_config.h"

#include <algorithm>
#include <set>

#include "common/config/addresses.h"
#include "common/net/hop_trace.h"

namespace outrider::tg {
namespace {

constexpr std::uint64_t kMaxBurstPackets = 1U << 30;
constexpr std::uint64_t kMaxCycle = 4096;  ///< largest number of packets in a size mix's cycle
constexpr std::uint64_t kMaxLatencySamples = 1U << 27;

void check_rate(const Checks& at, const StreamConfig& s) {
  if (!s.rate) {
    if (!s.device.empty()) at.fault("rate", "is required with device");
    return;
  }
  const auto shown = Checks::quoted(format_stream_rate(*s.rate));
  if (!at.require(s.rate->value > 0, "rate", shown, "must be more than zero")) return;
  at.require(s.layer == RateLayer::kL1 || s.rate->unit != StreamRate::Unit::kShare, "layer",
             "\"l2\"", "a percentage is one of the line rate, which counts L1");
}

void check_pattern(const Checks& at, const StreamConfig& s) {
  if (s.pattern == StreamPattern::kOnOff) {
    at.in_range("burst_packets", s.burst_packets, 1, kMaxBurstPackets, "packets");
    at.positive("gap", s.gap);
  } else {
    at.require(s.burst_packets == 1, "burst_packets", std::to_string(s.burst_packets),
               "needs pattern \"on_off\"");
    at.require(s.gap == Duration::zero(), "gap", format_duration(s.gap),
               "needs pattern \"on_off\"");
  }
}

bool check_size(const Checks& at, std::string_view key, std::uint64_t frame_bytes) {
  return at.in_range(key, frame_bytes, kMinStreamFrameBytes, kMaxStreamFrameBytes, "bytes");
}

void check_mix(const Checks& at, const SizeMix& mix) {
  std::uint64_t cycle = 0;
  for (const auto& entry : mix.entries) {
    check_size(at, "imix", entry.frame_bytes);
    at.require(entry.weight > 0, "imix", "weight 0", "must be at least 1");
    cycle += entry.weight;
  }
  at.in_range("imix", cycle, 1, kMaxCycle, "packets in a cycle");
}

void check_sizes(const Checks& at, const StreamConfig& s) {
  if (s.frame_bytes && s.imix) at.fault("imix", "only one of frame_bytes and imix may be given");
  if (s.frame_bytes) check_size(at, "frame_bytes", *s.frame_bytes);
  if (s.imix) check_mix(at, *s.imix);
}

std::uint32_t shortest_of(const StreamConfig& s) {
  if (!s.imix) return s.frame_bytes.value_or(kMinStreamFrameBytes);
  std::uint32_t shortest = kMaxStreamFrameBytes;
  for (const auto& entry : s.imix->entries) shortest = std::min(shortest, entry.frame_bytes);
  return shortest;
}

void check_hops(const Checks& at, const StreamConfig& s) {
  if (!at.in_range("hops", s.hops, 0, hop_trace::kMaxRecords, "hops") || s.hops == 0) return;
  const auto needs = static_cast<std::uint32_t>(kMinStreamFrameBytes + hop_trace::kHeaderBytes +
                                                s.hops * hop_trace::kRecordBytes);
  at.require(shortest_of(s) >= needs, "hops", std::to_string(s.hops),
             "needs frames of at least " + std::to_string(needs) + " bytes; the shortest has " +
                 std::to_string(shortest_of(s)));
}

bool is_unicast(std::uint32_t address) noexcept {
  const auto first = address >> 24;
  return first != 0 && first != 127 && first < 224;
}

void check_addresses(const Checks& at, std::string_view key, const std::string& text,
                     std::uint32_t count) {
  if (text.empty()) return at.fault(key, "is required");
  const auto address = at.parses(key, text, parse_ipv4(text));
  if (!address) return;
  const std::uint64_t last = std::uint64_t{*address} + std::max<std::uint32_t>(count, 1) - 1;
  at.require(
      is_unicast(*address) && last <= 0xFFFFFFFF && is_unicast(static_cast<std::uint32_t>(last)),
      key, Checks::quoted(text), "must be unicast addresses of hosts, to the last one");
}

void check_mac(const Checks& at, std::string_view key, const std::optional<std::string>& text) {
  if (!text) return;
  const auto mac = at.parses(key, *text, parse_mac(*text));
  if (mac && key == "source_mac")
    at.require(((*mac)[0] & 1) == 0, key, Checks::quoted(*text), "must be a unicast address");
}

void check_ports(const Checks& at, std::string_view key, std::uint32_t first, std::uint32_t count) {
  if (!at.in_range(key, first, 1, 65535)) return;
  at.require(std::uint64_t{first} + count <= 65536, key, std::to_string(first),
             "and the " + std::to_string(count) + " ports from it on go beyond 65535");
}

void check_flows(const Checks& at, const StreamConfig& s) {
  at.in_range("flows", s.flows, 1, kMaxFlowsPerStream);
  at.in_range("source_addresses", s.source_addresses, 1, kMaxFlowsPerStream);
  at.in_range("destination_addresses", s.destination_addresses, 1, kMaxFlowsPerStream);
  check_addresses(at, "source", s.source, s.source_addresses);
  check_addresses(at, "destination", s.destination, s.destination_addresses);
  const std::uint32_t source_ports = source_ports_of(s);
  if (at.in_range("source_ports", source_ports, 1, 65535))
    check_ports(at, "source_port", s.source_port, source_ports);
  if (at.in_range("destination_ports", s.destination_ports, 1, 65535))
    check_ports(at, "destination_port", s.destination_port, s.destination_ports);
  const std::uint64_t combinations = std::uint64_t{s.source_addresses} * s.destination_addresses *
                                     source_ports * s.destination_ports;
  at.require(s.flows <= combinations, "flows", std::to_string(s.flows),
             "only " + std::to_string(combinations) +
                 " can be told apart by the addresses and ports given; raise source_addresses");
  check_mac(at, "source_mac", s.source_mac);
  check_mac(at, "destination_mac", s.destination_mac);
}

void check_time(const Checks& at, const StreamConfig& s) {
  if (s.packets) at.in_range("packets", *s.packets, 1, kLargestCount, "packets");
}

/// The addresses and ports of a stream's flows, as intervals.
struct FlowBox {
  std::uint64_t low[4];
  std::uint64_t high[4];
  [[nodiscard]] bool meets(const FlowBox& other) const {
    for (int i = 0; i < 4; ++i)
      if (high[i] < other.low[i] || other.high[i] < low[i]) return false;
    return true;
  }
};

std::optional<FlowBox> box_of(const StreamConfig& s) {
  const auto source = parse_ipv4(s.source).value;
  const auto destination = parse_ipv4(s.destination).value;
  if (!source || !destination) return std::nullopt;
  return FlowBox{{*source, *destination, s.source_port, s.destination_port},
                 {std::uint64_t{*source} + s.source_addresses - 1,
                  std::uint64_t{*destination} + s.destination_addresses - 1,
                  std::uint64_t{s.source_port} + source_ports_of(s) - 1,
                  std::uint64_t{s.destination_port} + s.destination_ports - 1}};
}

}  // namespace

std::uint32_t source_ports_of(const StreamConfig& s) noexcept {
  if (s.source_ports) return *s.source_ports;
  const std::uint64_t others = std::max<std::uint64_t>(
      std::uint64_t{s.source_addresses} * s.destination_addresses * s.destination_ports, 1);
  const std::uint64_t needed = (s.flows + others - 1) / others;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(needed, 1, 65536U - s.source_port));
}

void check(const Checks& at, const StreamConfig& s) {
  if (s.device.empty() && s.receive_device.empty())
    at.fault("device", "one of device and receive_device is required");
  check_rate(at, s);
  check_pattern(at, s);
  check_sizes(at, s);
  check_hops(at, s);
  check_flows(at, s);
  check_time(at, s);
  at.in_range("latency_samples", s.latency_samples, 0, kMaxLatencySamples);
}

void check_streams(const Checks& root, const std::vector<StreamConfig>& streams) {
  root.in_range("stream", streams.size(), 0, kMaxStreams, "streams");
  std::set<std::string> names;
  UniqueValues<std::uint32_t> ids;
  std::vector<std::optional<FlowBox>> boxes;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const auto at = root.below("stream", i);
    const auto& s = streams[i];
    at.require(!s.name.empty(), "name", "\"\"", "must not be empty");
    at.require(names.insert(s.name).second, "name", Checks::quoted(s.name), "is used twice");
    check(at, s);
    if (at.in_range("id", id_of(s, i), 0, kMaxStreams - 1))
      ids.add(at, "id", id_of(s, i), std::to_string(id_of(s, i)),
              "stream[" + std::to_string(i) + "]");
    boxes.push_back(box_of(s));
    for (std::size_t k = 0; k < i && boxes[i]; ++k)
      if (boxes[k] && boxes[i]->meets(*boxes[k]))
        at.fault("source", Checks::quoted(s.source),
                 "addresses and ports overlap with those of stream[" + std::to_string(k) +
                     "]: the network could not tell their flows apart");
  }
}

bool all_bounded(const std::vector<StreamConfig>& streams) {
  const auto sends = [](const StreamConfig& s) { return !s.device.empty(); };
  return std::ranges::any_of(streams, sends) &&
         std::ranges::all_of(
             streams, [&](const StreamConfig& s) { return !sends(s) || s.duration || s.packets; });
}

}  // namespace outrider::tg
