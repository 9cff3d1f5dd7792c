#include "trafficgen/apps/generator_background.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "common/config/addresses.h"
#include "trafficgen/background/roce_transfer.h"
#include "trafficgen/background/transfer.h"
#include "trafficgen/channel/make_channels.h"

namespace outrider::tg {

namespace {

/// Returns what arrivals are drawn from.
std::vector<FlowHost> described(const std::vector<Host*>& side) {
  std::vector<FlowHost> all;
  all.reserve(side.size());
  for (const Host* host : side) all.push_back({host->address(), host->setup().rate});
  return all;
}

}  // namespace

GeneratorBackground::GeneratorBackground(const GeneratorConfig& config, const LcoreShare& share,
                                         const GeneratorHosts& hosts, GoodputSeries& goodput)
    : config_(config), hosts_(hosts), goodput_(goodput) {
  for (const auto& flows : config.long_flows) make_long_flows(flows);
  for (const auto& flows : config.requests) make_requests(flows);
  for (const auto& transfer : config.transfers) make_transfer(transfer, share);
  for (const auto& flows : config.flows) make_flow_group(flows, share);
  for (const auto& capture : config.captures) make_capture(capture);
}

void GeneratorBackground::start(Time now) const {
  const auto schedule = [](const auto& all) {
    for (const auto& one : all)
      if (one != nullptr) one->schedule();
  };
  schedule(long_flows);
  schedule(requests);
  schedule(transfers);
  schedule(flow_groups);
  for (const auto& capture : captures)
    if (capture != nullptr) capture->schedule(now);
}

void GeneratorBackground::make_long_flows(const LongFlowsConfig& flows) {
  for (std::size_t pair = 0; pair < flows.from.size(); ++pair) {
    if (!hosts_.owns(flows.from[pair])) {
      long_flows.resize(long_flows.size() + flows.flows_per_pair);
      continue;
    }
    for (std::uint32_t n = 0; n < flows.flows_per_pair; ++n)
      long_flows.push_back(long_flow(flows, pair, static_cast<std::uint32_t>(long_flows.size())));
  }
}

std::unique_ptr<Channels> GeneratorBackground::channels(const std::string& transport,
                                                        const std::string& from,
                                                        const std::string& to,
                                                        std::uint32_t first_port,
                                                        std::uint16_t ports) const {
  return make_channels(transport_named(config_, transport),
                       {.hosts = {{hosts_.named(from)}, {hosts_.named(to)}},
                        .first_port = static_cast<std::uint16_t>(first_port),
                        .ports = ports,
                        .seed = config_.seed});
}

std::unique_ptr<LongFlow> GeneratorBackground::long_flow(const LongFlowsConfig& flows,
                                                         std::size_t pair,
                                                         std::uint32_t index) const {
  const auto& from = flows.from[pair];
  return std::make_unique<LongFlow>(
      LongFlow::Setup{
          .name = flows.name + " " + std::to_string(index),
          .from = hosts_.named(from),
          .channels = channels(flows.transport, from, flows.to[pair], flows.tcp_port + index, 1),
          .start = long_flow_start(flows.start, flows.start_spread, config_.seed, index)},
      goodput_);
}

void GeneratorBackground::make_requests(const RequestFlowsConfig& flows) {
  for (std::size_t pair = 0; pair < flows.from.size(); ++pair) {
    const auto& from = flows.from[pair];
    const auto& to = flows.to[pair];
    const auto index = static_cast<std::uint32_t>(requests.size());
    requests.emplace_back();
    if (!hosts_.owns(from)) continue;
    requests.back() = std::make_unique<RequestFlows>(
        RequestFlows::Setup{
            .config = flows,
            .name = flows.name + " " + from + " " + to,
            .from = hosts_.named(from),
            .channels = channels(flows.transport, from, to, flows.tcp_port, flows.server_ports),
            .seed = config_.seed,
            .index = index},
        goodput_);
  }
}

void GeneratorBackground::make_transfer(const TransferConfig& transfer, const LcoreShare& share) {
  transfers.emplace_back();
  if (!share.has(config_, transfer)) return;
  const auto known = [this](const std::string& end) {
    return std::ranges::find(config_.hosts, end, &HostConfig::name) != config_.hosts.end();
  };
  const auto find = [&](const std::string& end, Host*& host, std::uint32_t& address) {
    if (known(end)) host = hosts_.named(end);
    address = host != nullptr ? host->address() : *parse_ipv4(end).value;
  };
  const auto make = [&]<class Kind>(typename Kind::Setup setup) {
    find(transfer.from, setup.from, setup.from_address);
    find(transfer.to, setup.to, setup.to_address);
    transfers.back() = std::make_unique<Kind>(setup, goodput_);
  };
  const TransportConfig& how = transport_named(config_, transfer.transport);
  if (how.protocol == TransportProtocol::kRoce)
    make.operator()<RoceTransfer>(
        {.config = transfer, .roce = how.roce, .priority = how.tcp.priority, .seed = config_.seed});
  else make.operator()<Transfer>({.config = transfer, .tcp = how.tcp});
}

void GeneratorBackground::make_flow_group(const FlowsConfig& flows, const LcoreShare& share) {
  const auto index = static_cast<std::uint32_t>(flow_groups.size());
  flow_groups.emplace_back();
  if (!share.has(config_, flows)) return;
  const TransportConfig& how = transport_named(config_, flows.transport);
  const ChannelHosts hosts{hosts_.named(flows.list ? flows.hosts : flows.from),
                           hosts_.named(flows.list ? flows.hosts : flows.to)};
  const auto from = described(hosts.from), to = described(hosts.to);
  const FullPacket packet = full_packet_of(config_, flows);
  flow_groups.back() = std::make_unique<FlowGroup>(
      FlowGroup::Setup{.name = flows.name,
                       .hosts = hosts,
                       .channels = make_channels(how, {.hosts = hosts,
                                                       .first_port = flows.tcp_port,
                                                       .fills_mtu = false,
                                                       .queue_pairs = flows.queue_pairs,
                                                       .seed = config_.seed}),
                       .max_open = flows.max_open.value_or(kMaxOpenFlows),
                       .records = flows.records,
                       .offered = flows.list ? BitRate{} : offered_rate(flows, to, packet),
                       .listed = flows.list.has_value(),
                       .arrivals = make_arrivals(flows, from, to, packet, config_.seed, index)},
      goodput_);
}

void GeneratorBackground::make_capture(const CaptureConfig& capture) {
  captures.emplace_back();
  if (!hosts_.owns(capture.from)) return;
  Host* from = hosts_.named(capture.from);
  Host* to = hosts_.named(capture.to);
  auto frames =
      load_capture_frames(capture.file, std::min(from->setup().mtu_bytes, to->setup().mtu_bytes));
  if (!frames) throw std::runtime_error(format_issues(capture.file, frames.issues));
  captures.back() = std::make_unique<CapturePlayer>(
      CapturePlayer::Setup{
          .name = capture.name,
          .from = from,
          .to = to,
          .udp_port = capture.udp_port,
          .start = Time{} + capture.start,
          .rounds = capture.rounds,
          .capture = std::make_shared<const CaptureFrames>(std::move(*frames.config))},
      goodput_);
}

}  // namespace outrider::tg
