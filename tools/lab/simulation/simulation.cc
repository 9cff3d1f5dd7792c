#include "tools/lab/simulation/simulation.h"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <vector>

#include "common/config/addresses.h"
#include "tools/lab/simulation/edge_hosts.h"

namespace outrider::lab {

namespace {

std::vector<tg::StreamDevice> stream_devices(const tg::GeneratorConfig& traffic) {
  std::vector<tg::StreamDevice> devices;
  for (const auto& d : traffic.devices)
    devices.push_back({d.name, d.line_rate.value_or(BitRate{})});
  return devices;
}

std::vector<std::unique_ptr<EventLoop>> loops_for(const RankPart& part) {
  std::vector<std::unique_ptr<EventLoop>> loops;
  for (std::uint32_t t = 0; t < (part.partition == nullptr ? 1 : part.partition->tiles); ++t)
    loops.push_back(std::make_unique<EventLoop>());
  return loops;
}

/// @param tiles  of switches or hosts. @return the loop of each; none if there is one for all
std::vector<EventLoop*> loops_of(const std::vector<std::unique_ptr<EventLoop>>& loops,
                                 const std::vector<std::uint32_t>& tiles) {
  std::vector<EventLoop*> of;
  of.reserve(tiles.size());
  for (const std::uint32_t tile : tiles) of.push_back(loops[tile].get());
  return of;
}

sw::NetworkShare network_of(const RankPart& part,
                            const std::vector<std::unique_ptr<EventLoop>>& loops,
                            std::size_t switches) {
  if (part.partition == nullptr) return {};
  sw::NetworkShare share = share_of(part, switches, part.partition->host_behind.size());
  share.loops = loops_of(loops, part.partition->tile_of_switch);
  return share;
}

tg::LcoreShare hosts_of(const RankPart& part, const tg::GeneratorConfig& traffic) {
  if (part.partition == nullptr) return {};
  return {.plan = {.of_host = part.partition->of_host,
                   .of_device = std::vector<std::uint32_t>(traffic.devices.size())},
          .lcore = part.rank};
}

}  // namespace

Simulation::Simulation(const sw::SwitchProcessConfig& switches, const tg::GeneratorConfig& traffic,
                       rte_mempool& pool, const std::map<std::string, SignalKey>& signal_keys,
                       const RankPart& part)
    : loops_(loops_for(part)),
      lookahead_(part.partition == nullptr ? Partition::kUncut : part.partition->lookahead),
      network_(switches, *loops_.front(), network_of(part, loops_, switches.switches.size())),
      generator_(
          traffic, *loops_.front(), pool,
          {.full_payload = false,
           .signal_keys = signal_keys,
           .share = hosts_of(part, traffic),
           .loops = part.partition == nullptr ? std::vector<EventLoop*>()
                                              : loops_of(loops_, part.partition->tile_of_host)}) {
  if (!traffic.streams.empty())
    streams_.emplace(traffic.streams, stream_devices(traffic), traffic.seed, traffic.duration,
                     *loops_.front(), pool, traffic.pauses);
  join(traffic,
       part.partition != nullptr ? part.partition->host_behind : find_hosts(switches, traffic),
       part);
  if (generator_.owners() != 0) network_.attribute(generator_.owners());
  generator_.start(now_);
  if (streams_) streams_->start();
}

Simulation::~Simulation() { flush(); }

std::vector<std::uint32_t> Simulation::find_hosts(const sw::SwitchProcessConfig& switches,
                                                  const tg::GeneratorConfig& traffic) const {
  auto behind = hosts_behind(
      network_.edges(), traffic,
      [this](std::uint32_t s, std::uint32_t address) { return network_.route(s, address); });
  check_cabled(switches, traffic, network_.edges(), behind, streams_.has_value());
  return behind;
}

bool Simulation::leads_to(std::uint32_t edge, const std::string& device,
                          const std::string& address) const {
  const sw::EdgePort& e = network_.edges()[edge];
  return device == e.device &&
         network_.route(e.switch_index, *parse_ipv4(address).value) == e.port_index;
}

/// Joins what this process has of either end of each wire.
void Simulation::join(const tg::GeneratorConfig& traffic, std::span<const std::uint32_t> behind,
                      const RankPart& part) {
  std::vector<bool> has_host(behind.size());
  for (std::uint32_t e = 0; e < behind.size(); ++e) {
    has_host[e] = behind[e] != kNoHost && part.has_host(behind[e]);
    Node* node = has_host[e] ? &generator_.host(behind[e]) : nullptr;
    if (streams_) node = taps_.emplace_back(new tg::StreamTap(*streams_, node)).get();
    EventLoop* const loop = has_host[e] && part.partition != nullptr
                                ? loops_[part.partition->tile_of_host[behind[e]]].get()
                                : nullptr;
    if (node != nullptr) network_.connect(e, *node, 0, loop);
    else if (part.has_switch(network_.edges()[e].switch_index)) network_.connect_elsewhere(e);
    if (has_host[e]) generator_.connect(behind[e], network_.ingress(e));
  }
  join_streams(traffic, has_host);
}

void Simulation::join_streams(const tg::GeneratorConfig& traffic,
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
  join_pauses(traffic);
}

/// A pause reaches the first edge port of its device.
void Simulation::join_pauses(const tg::GeneratorConfig& traffic) {
  const auto edges = network_.edges();
  for (std::size_t i = 0; i < traffic.pauses.size(); ++i) {
    const auto edge = std::ranges::find(edges, traffic.pauses[i].device, &sw::EdgePort::device);
    if (edge == edges.end())
      throw std::runtime_error("pause: no edge port is on device " + traffic.pauses[i].device);
    streams_->connect_pause(i, network_.ingress(static_cast<std::uint32_t>(edge - edges.begin())));
  }
}

Time Simulation::next() const noexcept {
  Time next = kNever;
  for (const auto& loop : loops_) next = std::min(next, loop->next());
  return next;
}

// A packet that leaves a tile reaches another no earlier than the end of the window, so the tiles
// may take turns within it, in any order. A window begins at the next event of all: idle time
// costs nothing.
std::uint64_t Simulation::run_until(Time end) noexcept {
  now_ = std::max(now_, end);
  if (loops_.size() == 1) return loops_.front()->run_until(end);
  std::uint64_t events = 0;
  for (Time begin = next(); begin <= end; begin = next()) {
    const Time last = end - begin < lookahead_ ? end : begin + lookahead_ - Duration{1};
    for (const auto& loop : loops_) events += loop->run_until(last);
  }
  for (const auto& loop : loops_) loop->run_until(end);
  return events;
}

std::uint64_t Simulation::run_until(Time end, std::uint64_t most) noexcept {
  assert(loops_.size() == 1);
  now_ = std::max(now_, end);
  return loops_.front()->run_until(end, most);
}

RunResult Simulation::result() const {
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
