#include "switch/runtime/ingress.h"

#include "common/dpdk/packet/known_headers.h"
#include "common/net/pause_frame.h"
#include "switch/forwarding/arp_reply.h"
#include "switch/forwarding/header_rewrite.h"
#include "switch/forwarding/parse.h"
#include "switch/forwarding/plain_segment.h"

namespace outrider::sw {

namespace {

/// Reads of a packet of known headers what a switch may have changed since.
/// @return false if they are not known
bool read_known(Packet& packet) noexcept {
  if (!knows_segment(packet)) return false;
  meta(packet).tos = header_at<Ipv4Header>(packet, kKnownIpOffset).tos;
  return true;
}

/// Changes TTL and MAC addresses of a routed packet. @return false if its TTL expires
[[gnu::always_inline]] inline bool rewrite(Packet& packet, const FrameSummary& summary,
                                           const Forwarder& forwarder,
                                           const Forwarder::Verdict& verdict) noexcept {
  const std::uint32_t offset = summary.network_offset;
  if (summary.kind == FrameKind::kIpv6) [[unlikely]] {
    if (!decrement_hop_limit(header_at<Ipv6Header>(packet, offset))) return false;
  } else if (!decrement_ttl(header_at<Ipv4Header>(packet, offset))) {
    return false;
  }
  if (verdict.hop->has_mac) {
    auto& ethernet = header_at<EthernetHeader>(packet, 0);
    ethernet.destination = verdict.hop->mac;
    ethernet.source = forwarder.mac();
  }
  return true;
}

/// Rewrites and classifies a packet whose way is decided.
[[gnu::always_inline]] inline std::uint32_t pass(SwitchLane& lane, Packet& packet,
                                                 const FrameSummary& summary,
                                                 const Forwarder::Verdict& verdict) noexcept {
  const auto refuse = [&](DropReason reason) {
    drop(lane, packet, reason);
    return kDropped;
  };
  if (verdict.action == Forwarder::Action::kDrop) [[unlikely]]
    return refuse(verdict.reason);
  if (verdict.action == Forwarder::Action::kRoute &&
      !rewrite(packet, summary, lane.tables->forwarder, verdict)) [[unlikely]]
    return refuse(DropReason::kTtlExpired);
  PacketMeta& m = meta(packet);
  const Classifier::Result result = lane.tables->classifier.classify(summary, m, lane.classes);
  m.traffic_class = result.traffic_class;
  m.queue = result.queue;
  if (verdict.action == Forwarder::Action::kFlood) return kFlooded;
  if (verdict.action != Forwarder::Action::kAnswer) [[likely]]
    return verdict.port;
  make_arp_reply(header_at<EthernetHeader>(packet, 0),
                 header_at<ArpPacket>(packet, summary.network_offset),
                 lane.tables->forwarder.mac());
  return ingress_port_of(packet);
}

[[gnu::noinline]] std::uint32_t forward_known_roce(SwitchLane& lane, Packet& packet,
                                                   Time now) noexcept {
  reread_known_roce(packet);
  constexpr FrameSummary kDatagram{
      .kind = FrameKind::kIpv4, .network_offset = kKnownIpOffset, .protocol = kIpProtocolUdp};
  const Forwarder& forwarder = lane.tables->forwarder;
  const FlowKey& flow = meta(packet).flow;
  return pass(lane, packet, kDatagram,
              forwarder.looks_at_macs()
                  ? forwarder.decide(kDatagram, flow, buffer(packet).data(),
                                     ingress_port_of(packet), now, lane.forwarding)
                  : forwarder.route(flow, now, lane.forwarding));
}

/// Forwards a frame of any form.
[[gnu::noinline]] std::uint32_t forward_other(SwitchLane& lane, Packet& packet, Time now) noexcept {
  const FrameSummary summary = parse(packet);
  if (!summary.is_network()) [[unlikely]] {
    if (summary.kind == FrameKind::kRefused) {
      drop(lane, packet, summary.refused);
      return kDropped;
    }
    if (lane.takes_pauses && decode_pause_frame(buffer(packet))) return kPaused;
  }
  return pass(lane, packet, summary,
              lane.tables->forwarder.decide(summary, meta(packet).flow, buffer(packet).data(),
                                            ingress_port_of(packet), now, lane.forwarding));
}

}  // namespace

template <bool kLinked>
std::uint32_t forward_packet(SwitchLane& lane, std::uint32_t port, Packet& packet,
                             Time now) noexcept {
  set_ingress_port(packet, static_cast<std::uint16_t>(port));
  PacketMeta& m = meta(packet);
  m.notes = SwitchNotes{};
  const Forwarder& forwarder = lane.tables->forwarder;
  if (kLinked && knows_roce(packet)) [[unlikely]]
    return forward_known_roce(lane, packet, now);
  // pass() is compiled anew for each form: most of what it asks is known beforehand of this one.
  if (!forwarder.looks_at_macs() &&
      ((kLinked && read_known(packet)) || parse_plain_segment(buffer(packet), m.frame_bytes, m)))
      [[likely]]
    return pass(lane, packet, kPlainSegment, forwarder.route(m.flow, now, lane.forwarding));
  return forward_other(lane, packet, now);
}
template std::uint32_t forward_packet<false>(SwitchLane&, std::uint32_t, Packet&, Time) noexcept;
template std::uint32_t forward_packet<true>(SwitchLane&, std::uint32_t, Packet&, Time) noexcept;

void drop(SwitchLane& lane, Packet& packet, DropReason reason) noexcept {
  ++lane.dropped[reason];
  release(&packet);
}

void take_back(SwitchLane& lane, Packet& packet, DropReason reason) noexcept {
  --lane.handed;
  drop(lane, packet, reason);
}

std::optional<std::uint16_t> port_behind(const SwitchLane& lane, Packet& packet,
                                         Time now) noexcept {
  const Forwarder& forwarder = lane.tables->forwarder;
  if (forwarder.learning() && buffer(packet).size() >= sizeof(EthernetHeader)) {
    const std::uint64_t source = mac_at(buffer(packet).data() + sizeof(MacAddress));
    if (const auto port = forwarder.port_of_station(source, now, lane.forwarding)) return port;
  }
  const auto address = source_address_of(packet);
  return address ? forwarder.port_to(*address) : std::nullopt;
}

}  // namespace outrider::sw
