#include "trafficgen/neighbours/neighbour_edge.h"

#include <algorithm>
#include <cassert>
#include <cstdio>

#include "common/config/addresses.h"
#include "common/telemetry/add_fields.h"
#include "trafficgen/frames/arp.h"
#include "trafficgen/frames/frame.h"

namespace outrider::tg {

namespace {

NeighbourTable::Setup with_hosts(NeighbourTable::Setup table,
                                 const std::vector<std::uint32_t>& hosts) {
  for (const std::uint32_t host : hosts) table.fixed.push_back({host, mac_of(host)});
  return table;
}

const char* name_of(NeighbourTable::State state) {
  switch (state) {
    case NeighbourTable::State::kFixed:
      return "fixed";
    case NeighbourTable::State::kLearned:
      return "learned";
    case NeighbourTable::State::kAsking:
      return "asking";
    case NeighbourTable::State::kSilent:
      return "silent";
  }
  return "";
}

std::string format_mac(const MacAddress& m) {
  std::array<char, 18> text{};
  std::snprintf(text.data(), text.size(), "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3],
                m[4], m[5]);
  return text.data();
}

}  // namespace

NeighbourEdge::NeighbourEdge(const Setup& setup, EventLoop& loop, rte_mempool& pool)
    : device_(setup.device),
      own_(setup.own),
      loop_(loop),
      id_(loop.add(*this)),
      pool_(pool),
      table_(with_hosts(setup.table, setup.hosts)) {
  std::ranges::sort(own_);
  const std::size_t entries = table_.entries().capacity();
  held_.resize(entries);
  unresolved_.resize(entries);
  asker_.resize(entries);
}

NeighbourEdge::~NeighbourEdge() {
  for (Packet* packet : held_)
    if (packet != nullptr) release(packet);
}

bool NeighbourEdge::is_own(std::uint32_t address) const noexcept {
  return std::ranges::binary_search(own_, address);
}

// -- from the hosts

void NeighbourEdge::receive(std::uint32_t /*port*/, Packet* packet, Time now) noexcept {
  const auto& ip = header_at<Ipv4Header>(*packet, sizeof(EthernetHeader));
  const auto [verdict, entry] = table_.resolve(ip.destination.get(), now);
  switch (verdict) {
    [[likely]] case NeighbourTable::Verdict::kSend
        : return pass(packet, table_.entry(entry).mac, now);
    case NeighbourTable::Verdict::kImplied:
      return pass(packet, mac_of(ip.destination.get()), now);
    case NeighbourTable::Verdict::kAskAndHold:
      asker_[entry] = ip.source.get();
      request(entry, now);
      loop_.schedule(id_, table_.next_timer());
      return hold(entry, packet);
    case NeighbourTable::Verdict::kHold:
      return hold(entry, packet);
    case NeighbourTable::Verdict::kUnreachable:
      return drop(entry, packet);
  }
}

void NeighbourEdge::pass(Packet* packet, const MacAddress& mac, Time now) noexcept {
  header_at<EthernetHeader>(*packet, 0).destination = mac;
  ++passed_;
  out_->receive(0, packet, now);
}

void NeighbourEdge::hold(std::uint32_t entry, Packet* packet) noexcept {
  if (held_[entry] != nullptr) drop(entry, held_[entry]);
  held_[entry] = packet;
}

void NeighbourEdge::drop(std::uint32_t entry, Packet* packet) noexcept {
  if (entry != NeighbourTable::kNoEntry) ++unresolved_[entry];
  ++unresolved_total_;
  release(packet);
}

/// If no buffer is left, the next request is one interval away, as if this one were lost.
void NeighbourEdge::request(std::uint32_t entry, Time now) noexcept {
  Packet* packet = rte_pktmbuf_alloc(&pool_);
  if (packet == nullptr) return;
  write_arp_request(*packet, mac_of(asker_[entry]), asker_[entry], table_.entry(entry).address);
  ++totals_.arp_requested;
  out_->receive(0, packet, now);
}

void NeighbourEdge::release_held(std::uint32_t entry, Time now) noexcept {
  if (held_[entry] == nullptr) return;
  pass(held_[entry], table_.entry(entry).mac, now);
  held_[entry] = nullptr;
}

Time NeighbourEdge::fire(Time now) noexcept {
  while (const auto due = table_.next_due(now)) {
    if (!due->given_up) {
      request(due->entry, now);
    } else if (held_[due->entry] != nullptr) {
      drop(due->entry, held_[due->entry]);
      held_[due->entry] = nullptr;
    }
  }
  return table_.next_timer();
}

// -- from the device

bool NeighbourEdge::take(Packet* packet, Time now) noexcept {
  const auto bytes = buffer(*packet);
  if (bytes.size() < sizeof(EthernetHeader)) return false;
  const std::uint16_t type = header_at<EthernetHeader>(*packet, 0).ether_type.get();
  if (type == kEtherTypeArp) {
    ++totals_.arp_received;
    if (ArpPacket* arp = arp_of(*packet)) {
      take_arp(packet, *arp, now);
    } else {
      ++totals_.arp_ignored;
      release(packet);
    }
    return true;
  }
  if (type != kEtherTypeIpv4 || bytes.size() < sizeof(EthernetHeader) + sizeof(Ipv4Header))
    return false;
  if (!is_own(header_at<Ipv4Header>(*packet, sizeof(EthernetHeader)).destination.get()) ||
      !answer_echo(*packet)) [[likely]]
    return false;
  ++totals_.echoes_answered;
  out_->receive(0, packet, now);
  return true;
}

/// Processes an ARP packet as in RFC 826, "packet reception".
void NeighbourEdge::take_arp(Packet* packet, ArpPacket& arp, Time now) noexcept {
  const std::uint32_t sender = arp.sender_address.get();
  const std::uint32_t target = arp.target_address.get();
  const bool for_us = is_own(target);
  if (is_own(sender)) ++totals_.address_conflicts;
  // An ARP probe (RFC 5227) has no sender address yet; a group address belongs to no single MAC.
  if (sender != 0 && (arp.sender_mac.front() & 1) == 0) {
    if (const auto known = table_.learn(sender, arp.sender_mac, for_us)) {
      release_held(*known, now);
      loop_.schedule(id_, table_.next_timer());
    }
  }
  if (for_us && arp.operation.get() == ArpPacket::kRequest) {
    ++totals_.arp_answered;
    answer_arp(*packet, arp, mac_of(target));
    out_->receive(0, packet, now);
    return;
  }
  ++(for_us ? totals_.arp_learned_from : totals_.arp_ignored);
  release(packet);
}

// -- the report

std::uint64_t NeighbourEdge::held() const noexcept {
  return held_.size() - static_cast<std::uint64_t>(std::ranges::count(held_, nullptr));
}

void NeighbourEdge::fill(NeighbourhoodReport& report) const {
  add_fields(report.totals, totals());
  for (std::size_t i = 0; i < table_.entries().size(); ++i) {
    const auto& entry = table_.entries()[i];
    const bool emulated = entry.known() && entry.mac == mac_of(entry.address);
    if (emulated) continue;
    report.neighbours.push_back({.device = device_,
                                 .address = format_ipv4(entry.address),
                                 .mac = entry.known() ? format_mac(entry.mac) : "",
                                 .state = name_of(entry.state),
                                 .requests = entry.requests,
                                 .unresolved = unresolved_[i]});
  }
}

}  // namespace outrider::tg
