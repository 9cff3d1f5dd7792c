#include "tools/lab/run/virtual_world.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "common/config/addresses.h"
#include "tools/lab/run/edge_hosts.h"

namespace outrider::lab {

namespace {

std::vector<tg::StreamDevice> stream_devices(const tg::GeneratorConfig& traffic) {
  std::vector<tg::StreamDevice> devices;
  for (const auto& d : traffic.devices)
    devices.push_back({d.name, d.line_rate.value_or(BitRate{})});
  return devices;
}

/// Returns the number of edge ports of a case.
std::size_t edges_in(const RankPart& part) {
  return part.partition == nullptr ? 0 : part.partition->host_behind.size();
}

tg::LcoreShare hosts_of(const RankPart& part, const tg::GeneratorConfig& traffic) {
  if (part.partition == nullptr) return {};
  return {.plan = {.of_host = part.partition->of_host,
                   .of_device = std::vector<std::uint32_t>(traffic.devices.size())},
          .lcore = part.rank};
}

}  // namespace

VirtualWorld::VirtualWorld(const sw::SwitchProcessConfig& switches,
                           const tg::GeneratorConfig& traffic, rte_mempool& pool,
                           const std::map<std::string, SignalKey>& signal_keys,
                           const RankPart& part)
    : network_(switches, loop_, share_of(part, switches.switches.size(), edges_in(part))),
      generator_(
          traffic, loop_, pool,
          {.full_payload = false, .signal_keys = signal_keys, .share = hosts_of(part, traffic)}) {
  if (!traffic.streams.empty())
    streams_.emplace(traffic.streams, stream_devices(traffic), traffic.seed, traffic.duration,
                     loop_, pool);
  join(traffic,
       part.partition != nullptr ? part.partition->host_behind : find_hosts(switches, traffic),
       part);
  if (generator_.owners() != 0) network_.attribute(generator_.owners());
  generator_.start(now_);
  if (streams_) streams_->start();
}

VirtualWorld::~VirtualWorld() { flush(); }

std::vector<std::uint32_t> VirtualWorld::find_hosts(const sw::SwitchProcessConfig& switches,
                                                    const tg::GeneratorConfig& traffic) const {
  auto behind = hosts_behind(
      network_.edges(), traffic,
      [this](std::uint32_t s, std::uint32_t address) { return network_.route(s, address); });
  check_cabled(switches, traffic, network_.edges(), behind, streams_.has_value());
  return behind;
}

bool VirtualWorld::leads_to(std::uint32_t edge, const std::string& device,
                            const std::string& address) const {
  const sw::EdgePort& e = network_.edges()[edge];
  return device == e.device &&
         network_.route(e.switch_index, *parse_ipv4(address).value) == e.port_index;
}

/// Joins what this process has of either end of each wire.
void VirtualWorld::join(const tg::GeneratorConfig& traffic, std::span<const std::uint32_t> behind,
                        const RankPart& part) {
  std::vector<bool> has_host(behind.size());
  for (std::uint32_t e = 0; e < behind.size(); ++e) {
    has_host[e] = behind[e] != kNoHost && part.has_host(behind[e]);
    Node* node = has_host[e] ? &generator_.host(behind[e]) : nullptr;
    if (streams_) node = taps_.emplace_back(new tg::StreamTap(*streams_, node)).get();
    if (node != nullptr) network_.connect(e, *node, 0);
    else if (part.has_switch(network_.edges()[e].switch_index)) network_.connect_elsewhere(e);
    if (has_host[e]) generator_.connect(behind[e], network_.ingress(e));
  }
  join_streams(traffic, has_host);
}

void VirtualWorld::join_streams(const tg::GeneratorConfig& traffic,
                                const std::vector<bool>& has_host) {
  for (std::size_t i = 0; i < traffic.streams.size(); ++i) {
    const tg::StreamConfig& s = traffic.streams[i];
    if (s.device.empty()) continue;
    bool joined = false;
    for (std::uint32_t e = 0; e < network_.edges().size() && !joined; ++e) {
      joined = !has_host[e] && leads_to(e, s.device, s.source);
      if (joined) streams_->connect(i, network_.ingress(e));
    }
    if (!joined)
      throw std::runtime_error("stream " + s.name + " has no edge port without hosts on device " +
                               s.device + " that its source is routed to");
  }
}

std::uint64_t VirtualWorld::run_until(Time end) noexcept {
  now_ = std::max(now_, end);
  return loop_.run_until(end);
}

RunResult VirtualWorld::result() const {
  RunResult r;
  r.switches = network_.report(now_);
  r.traffic = generator_.report(now_);
  if (sampler_) r.slices = sampler_->slices(now_);
  if (!streams_) return r;
  r.traffic.streams = streams_->report();
  for (const auto& tap : taps_) {
    r.traffic.streams.ends.arrived += tap->foreign();
    r.traffic.streams.ends.foreign += tap->foreign();
  }
  return r;
}

}  // namespace outrider::lab
