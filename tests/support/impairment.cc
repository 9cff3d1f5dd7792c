#include "tests/support/impairment.h"

#include <rte_mbuf.h>

#include <cstring>
#include <memory>
#include <vector>

#include "common/dpdk/packet/known_headers.h"
#include "common/dpdk/packet/packet_slot.h"
#include "common/net/checksum.h"
#include "common/net/roce.h"
#include "switch/forwarding/header_rewrite.h"

namespace outrider {

namespace {

constexpr std::uint32_t kIpOffset = sizeof(EthernetHeader);

SeenPacket look_at(Packet& packet, std::uint64_t number, Time now) {
  const auto& ip = header_at<Ipv4Header>(packet, kIpOffset);
  const auto& tcp = header_at<TcpHeader>(packet, kIpOffset + ip.header_bytes());
  return {.number = number,
          .at = now,
          .flow = {ip.source.get(), ip.destination.get(), tcp.source_port.get(),
                   tcp.destination_port.get()},
          .sequence = tcp.sequence.get(),
          .acknowledgment = tcp.acknowledgment.get(),
          .payload_bytes = static_cast<std::uint16_t>(ip.total_length.get() - ip.header_bytes() -
                                                      tcp.header_bytes()),
          .tcp_flags = tcp.flags,
          .tos = ip.tos,
          .ttl = ip.ttl,
          .checksum_valid = ipv4_checksum_valid(ip)};
}

/// Writes the first byte of the AETH if the packet has one. Hosts of one process know the ICRC.
void set_syndrome(Packet& packet, std::uint8_t syndrome) {
  constexpr std::uint32_t kBth = kIpOffset + sizeof(Ipv4Header) + sizeof(UdpHeader);
  constexpr std::uint32_t kBthBytes = 12;
  auto* bytes = rte_pktmbuf_mtod(&packet, std::uint8_t*);
  if (bytes[kBth] == static_cast<std::uint8_t>(roce::Opcode::kAcknowledge))
    bytes[kBth + kBthBytes] = syndrome;
}

}  // namespace

void Impairment::receive(std::uint32_t /*port*/, Packet* packet, Time now) noexcept {
  ++received_;
  if (!rule_) return sink_(packet, now);
  const Fate fate = rule_(look_at(*packet, received_ - 1, now));
  if (fate.drop) {
    ++dropped_;
    return release(packet);
  }
  if (fate.forget_headers) forget_headers(*packet);
  auto& ip = header_at<Ipv4Header>(*packet, kIpOffset);
  if (fate.set_ce && is_ect(ecn_of(ip.tos)) && ecn_of(ip.tos) != Ecn::kCe) sw::set_ce(ip);
  if (fate.tos) {
    ip.tos = *fate.tos;
    const std::uint16_t checksum = ipv4_checksum(ip);
    std::memcpy(ip.checksum.raw.data(), &checksum, sizeof checksum);
  }
  if (fate.syndrome) set_syndrome(*packet, *fate.syndrome);
  std::vector<Packet*> copies(fate.copies);
  for (auto& copy : copies) copy = copy_of(*packet);  // before the original is gone
  pass(packet, fate.delay, now);
  for (auto* copy : copies)
    if (copy != nullptr) pass(copy, fate.copies_delay, now);
}

void Impairment::pass(Packet* packet, Duration delay, Time now) {
  if (delay == Duration::zero()) return sink_(packet, now);
  ++delayed_;
  held_[{now + delay, next_order_++}] = packet;
  loop_.schedule(id_, held_.begin()->first.first);
}

Time Impairment::fire(Time now) noexcept {
  while (!held_.empty() && held_.begin()->first.first <= now) {
    Packet* packet = held_.begin()->second;
    held_.erase(held_.begin());
    sink_(packet, now);
  }
  return held_.empty() ? kNever : held_.begin()->first.first;
}

void Impairment::flush() noexcept {
  for (const auto& [due, packet] : held_) release(packet);
  held_.clear();
}

Packet* Impairment::copy_of(const Packet& packet) noexcept {
  Packet* copy = rte_pktmbuf_alloc(&pool_);
  if (copy == nullptr) return nullptr;
  std::memcpy(rte_pktmbuf_mtod(copy, void*), rte_pktmbuf_mtod(&packet, const void*),
              packet.data_len);
  copy->data_len = packet.data_len;
  copy->pkt_len = packet.pkt_len;
  meta(*copy) = meta(packet);
  if (meta(packet).has_slot) slot_of(*copy) = slot_of(packet);
  ++copied_;
  return copy;
}

Impairment::Rule random_rule(const RandomImpairment& rates, std::uint64_t seed,
                             std::uint32_t entity) {
  auto draws = std::make_shared<RandomStream>(seed, entity, RandomPurpose::kImpairment);
  return [rates, draws](const SeenPacket&) {
    // Always the same number of draws, so that one rate does not change the draws of another.
    const double loss = draws->uniform(), copy = draws->uniform(), late = draws->uniform(),
                 by = draws->uniform(), ce = draws->uniform();
    Fate fate;
    fate.drop = loss < rates.loss;
    fate.copies = copy < rates.duplicate ? 1 : 0;
    fate.set_ce = ce < rates.ce;
    if (late < rates.reorder) fate.delay = from_seconds(seconds(rates.late) * by) + Duration{1};
    return fate;
  };
}

}  // namespace outrider
