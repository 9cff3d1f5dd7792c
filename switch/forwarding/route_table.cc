#include "switch/forwarding/route_table.h"

#include <algorithm>
#include <atomic>

#include "common/config/addresses.h"
#include "switch/config/port_index.h"

namespace outrider::sw {
namespace {

/// Mixes the bits of x by the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
constexpr std::uint64_t scrambled(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

/// Returns a name that no other table has, because rte_lpm's tables have process-wide names.
std::string unique_table_name() {
  static std::atomic<std::uint32_t> tables{0};
  return "routes" + std::to_string(tables++);
}

NextHop hop_of(const SwitchConfig& config, const SwitchNeighbourConfig& n) {
  return {index_of_port(config, n.port), true, *parse_mac(n.mac).value};
}

}  // namespace

RouteTable::RouteTable(const SwitchConfig& config, std::uint32_t index)
    : index_(index), seed_(scrambled((index + 1) * 0x9E3779B97F4A7C15ULL)) {
  const std::size_t prefixes =
      config.routes.size() + config.neighbours.size() + config.addresses.size();
  if (config.route_table == RouteTableKind::kLpm)
    lpm_ = std::make_unique<LpmTable>(unique_table_name(), static_cast<std::uint32_t>(prefixes));
  for (const auto& route : config.routes) {
    add_route(config, route);
    const std::size_t hops = std::max({route.ports.size(), route.via.size(), std::size_t{1}});
    add_target(static_cast<std::uint16_t>(hops), route);
    insert(route.prefix);
  }
  for (const auto& neighbour : config.neighbours) {
    hops_.push_back(hop_of(config, neighbour));
    add_target(1, {});
    insert(neighbour.address);
  }
  for (const auto& address : config.addresses) {
    add_target(0, {});
    insert(address.address);
  }
}

RouteTable::Spreading RouteTable::make_spreading(std::uint64_t seed) const {
  const bool flowlets = std::ranges::count(targets_, Spread::kFlowlets, &Target::spread) != 0;
  return {.turns = std::vector<std::uint16_t>(targets_.size()),
          .flowlets = {flowlets ? FlowletTable::kEntries : 0,
                       RandomStream(seed, index_, RandomPurpose::kFlowletPath)}};
}

std::uint32_t RouteTable::choose_of_several(const Target& target, const FlowKey& flow,
                                            const Time& now, Spreading& spreading) const noexcept {
  if (target.spread == Spread::kFlows) return share_of(flow, target.hops);
  const auto index = static_cast<std::size_t>(&target - targets_.data());
  if (target.spread == Spread::kFlowlets)
    return spreading.flowlets.choose(flow, target.hops, share_of(flow, target.hops), gaps_[index],
                                     now);
  std::uint16_t& turn = spreading.turns[index];
  const std::uint32_t chosen = turn;
  turn = chosen + 1 == target.hops ? 0 : static_cast<std::uint16_t>(chosen + 1);
  return chosen;
}

/// Adds the target of the last `hops` next hops.
void RouteTable::add_target(std::uint16_t hops, const RouteConfig& route) {
  targets_.push_back({.first = static_cast<std::uint32_t>(hops_.size()) - hops,
                      .hops = hops,
                      .spread = route.spray         ? Spread::kPackets
                                : route.flowlet_gap ? Spread::kFlowlets
                                                    : Spread::kFlows});
  assert(targets_.size() <= PrefixTable::kMaxValue);
  gaps_.push_back(route.flowlet_gap.value_or(Duration{}));
}

void RouteTable::add_route(const SwitchConfig& config, const RouteConfig& route) {
  if (route.port) hops_.push_back({.port = index_of_port(config, *route.port)});
  for (const auto& port : route.ports) hops_.push_back({.port = index_of_port(config, port)});
  for (const auto& via : route.via)
    hops_.push_back(hop_of(
        config, *std::ranges::find(config.neighbours, via, &SwitchNeighbourConfig::address)));
}

/// Lets a prefix or host lead to the target that was added last.
void RouteTable::insert(const std::string& text) {
  const auto target = static_cast<std::uint16_t>(targets_.size() - 1);
  const bool is_prefix = text.find('/') != std::string::npos;
  if (is_ipv6_text(text)) {
    const Ipv6Prefix p =
        is_prefix ? *parse_ipv6_prefix(text).value : Ipv6Prefix{*parse_ipv6(text).value, 128};
    return ipv6_.insert(p.address, p.length, target);
  }
  const Prefix p = is_prefix ? *parse_prefix(text).value : Prefix{*parse_ipv4(text).value, 32};
  if (lpm_) lpm_->insert(p.address, p.length, target);
  else ipv4_.insert(p.address, p.length, target);
}

}  // namespace outrider::sw
