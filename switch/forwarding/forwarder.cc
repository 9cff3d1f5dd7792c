#include "switch/forwarding/forwarder.h"

#include <algorithm>

#include "common/config/addresses.h"
#include "common/dpdk/eal/error.h"
#include "common/net/arp.h"
#include "switch/config/port_index.h"

namespace outrider::sw {
namespace {

/// Returns whether it is one of 01:80:C2:00:00:00 to 0F, which a bridge never forwards (IEEE
/// 802.1Q, table 8-1).
constexpr bool is_link_local(std::uint64_t mac) noexcept {
  return (mac & ~std::uint64_t{0xF}) == 0x0180'C200'0000;
}

std::unique_ptr<MacTable> static_stations(const SwitchConfig& config) {
  if (config.mac_routes.empty()) return nullptr;
  auto table = std::make_unique<MacTable>(
      MacTable::Settings{.max_entries = static_cast<std::uint32_t>(2 * config.mac_routes.size())});
  for (const auto& station : config.mac_routes) {
    const MacKey key = MacKey::of(MacKey::kAnyVlan, number_of(*parse_mac(station.mac).value));
    if (!table->insert_static(key, index_of_port(config, station.port)))
      throw EnvironmentError("no place in the table of stations for mac_route " + station.mac);
  }
  return table;
}

}  // namespace

Forwarder::Forwarder(const SwitchConfig& config, std::uint32_t index)
    : l2_(config.l2),
      learning_(config.l2.learning),
      looks_at_macs_(learning_ || !config.mac_routes.empty()),
      routes_(config, index),
      statics_(static_stations(config)) {
  if (config.mac) mac_ = *parse_mac(*config.mac).value;
  own_mac_ = number_of(mac_);
  for (const auto& a : config.addresses)
    own_addresses_.push_back(
        {*parse_ipv4(a.address).value,
         a.port ? std::optional(index_of_port(config, *a.port)) : std::nullopt});
}

ForwarderLane Forwarder::make_lane(std::uint64_t seed, bool shares_news) const {
  constexpr std::size_t kNewsAPoll = 256;
  ForwarderLane lane{.spreading = make_spreading(seed)};
  if (!learning_) return lane;
  lane.stations = std::make_unique<MacTable>(
      MacTable::Settings{.max_entries = l2_.max_entries, .ageing = l2_.ageing});
  if (shares_news) lane.news.reserve(kNewsAPoll);
  return lane;
}

Forwarder::Verdict Forwarder::decide_uncommon(const Frame& frame,
                                              ForwarderLane& lane) const noexcept {
  if (learning_) return bridge(frame, lane);
  if (frame.summary.kind == FrameKind::kOther) return {.reason = DropReason::kNotIpv4};
  if (statics_)
    if (const auto port = find_station(0, mac_at(frame.bytes), frame.now, lane))
      return {.action = Action::kBridge, .port = *port};
  return by_network_address(frame, lane);
}

Forwarder::Verdict Forwarder::bridge(const Frame& frame, ForwarderLane& lane) const noexcept {
  learn(frame, lane);
  const std::uint64_t destination = mac_at(frame.bytes);
  if (is_group_mac(destination)) [[unlikely]] {
    if (is_link_local(destination)) return {.reason = DropReason::kLinkLocalMac};
    return {.action = answers(frame) ? Action::kAnswer : Action::kFlood};
  }
  if (destination == own_mac_ && own_mac_ != 0) {
    if (frame.summary.kind == FrameKind::kOther) return {.reason = DropReason::kForSwitch};
    return by_network_address(frame, lane);
  }
  const auto port = find_station(vid_of(frame.summary.vlan_control), destination, frame.now, lane);
  if (!port) return {.action = Action::kFlood};
  if (*port == frame.ingress) return {.reason = DropReason::kFiltered};
  return {.action = Action::kBridge, .port = *port};
}

Forwarder::Verdict Forwarder::by_network_address(const Frame& frame,
                                                 ForwarderLane& lane) const noexcept {
  const FlowKey& flow = frame.flow;
  if (frame.summary.kind == FrameKind::kIpv6) {
    const auto& ip =
        *reinterpret_cast<const Ipv6Header*>(frame.bytes + frame.summary.network_offset);
    return route_to(routes_.find(ip.destination), flow, frame.now, lane);
  }
  if (frame.summary.kind == FrameKind::kIpv4)
    return route_to(routes_.find(flow.destination_address), flow, frame.now, lane);
  if (answers(frame)) return {.action = Action::kAnswer};
  // An ARP packet goes where a packet for its target would go, unchanged.
  Verdict verdict = route_to(routes_.find(flow.destination_address), flow, frame.now, lane);
  if (verdict.action == Action::kRoute) verdict.action = Action::kBridge;
  return verdict;
}

void Forwarder::learn(const Frame& frame, ForwarderLane& lane) const noexcept {
  const std::uint64_t source = mac_at(frame.bytes + sizeof(MacAddress));
  if (statics_ && statics_->find(MacKey::of(MacKey::kAnyVlan, source), frame.now)) return;
  const MacKey key = MacKey::of(vid_of(frame.summary.vlan_control), source);
  using Learned = MacTable::Learned;
  const Learned outcome = lane.stations->learn(key, frame.ingress, frame.now);
  if (outcome == Learned::kKnown) [[likely]]
    return;
  const bool is_news =
      outcome == Learned::kNew || outcome == Learned::kMoved || outcome == Learned::kRefreshed;
  if (is_news && lane.news.size() < lane.news.capacity()) lane.news.push_back({key, frame.ingress});
}

std::optional<std::uint16_t> Forwarder::find_station(std::uint16_t vlan, std::uint64_t mac,
                                                     Time now,
                                                     const ForwarderLane& lane) const noexcept {
  if (learning_)
    if (const auto port = lane.stations->find(MacKey::of(vlan, mac), now)) return port;
  return statics_ ? statics_->find(MacKey::of(MacKey::kAnyVlan, mac), now) : std::nullopt;
}

bool Forwarder::answers(const Frame& frame) const noexcept {
  if (frame.summary.kind != FrameKind::kArp || own_addresses_.empty()) return false;
  const auto& arp = *reinterpret_cast<const ArpPacket*>(frame.bytes + frame.summary.network_offset);
  if (arp.operation.get() != ArpPacket::kRequest) return false;
  return std::ranges::any_of(own_addresses_, [&](const OwnAddress& own) {
    return own.address == frame.flow.destination_address &&
           (!own.port || *own.port == frame.ingress);
  });
}

}  // namespace outrider::sw
