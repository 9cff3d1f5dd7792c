#include "tests/support/adversary/attack.h"

#include <algorithm>
#include <array>

#include "common/core/sequence.h"
#include "common/net/headers.h"
#include "common/net/signal_tag.h"
#include "common/net/udp_signal.h"
#include "tests/support/byte_writer.h"

namespace outrider {
namespace {

constexpr std::uint16_t kDdlPort = 5000;
/// No window in this simulation is as large: a number that far off is outside.
constexpr std::uint32_t kBeyondWindows = 8U << 20;
/// Where a message begins in a frame: behind Ethernet, IPv4 and UDP headers.
constexpr std::uint32_t kMessageAt = 42;

std::uint32_t server_address() { return ip("10.0.3.1"); }
std::uint32_t stranger(std::uint32_t n) { return ip("10.0.9.1") + n % 200; }

/// Writes a whole UDP frame without the code under test.
Bytes udp_frame(const FlowKey& flow, std::span<const std::uint8_t> payload) {
  Bytes out;
  put_mac(out, flow.destination_address);
  put_mac(out, flow.source_address);
  put16(out, kEtherTypeIpv4);
  put16(out, 0x4500);
  put16(out, static_cast<std::uint32_t>(28 + payload.size()));
  put32(out, 0x4000);  // identification, "don't fragment"
  put16(out, 64U << 8 | kIpProtocolUdp);
  put16(out, 0);  // checksum
  put32(out, flow.source_address);
  put32(out, flow.destination_address);
  put16(out, flow.source_port);
  put16(out, flow.destination_port);
  put16(out, static_cast<std::uint32_t>(8 + payload.size()));
  put16(out, 0);  // no checksum (RFC 768)
  out.insert(out.end(), payload.begin(), payload.end());
  out.resize(std::max<std::size_t>(out.size(), 60));
  reseal_ipv4(out);
  return out;
}

bool far_from(std::uint32_t number, std::uint32_t window) {
  const std::int32_t distance = sequence_distance(number, window);
  return distance > static_cast<std::int32_t>(kBeyondWindows) ||
         distance < -static_cast<std::int32_t>(kBeyondWindows);
}

}  // namespace

bool Attack::lasts(const HarmfulAct& act) {
  using enum Harm;
  return act.kind == kLoss || act.kind == kDuplicate || act.kind == kReorder ||
         act.kind == kDrainPool;
}

std::uint32_t Attack::packets(const HarmfulAct& act) {
  using enum Harm;
  const bool once =
      act.kind == kKill || act.kind == kLinkDown || act.kind == kRestart || act.kind == kReload;
  return once ? 1 : act.count;
}

std::uint32_t Attack::gap_us(const HarmfulAct& act) {
  const bool flood = act.kind == Harm::kFlood || act.kind == Harm::kRotateAddresses;
  return std::max(1U, flood ? act.gap_us / 20 : act.gap_us);
}

void Attack::play() {
  if (act_.kind < Harm::kLoss) play_signal();
  else if (act_.kind == Harm::kClump) clump();
  else play_luck();
}

void Attack::play_signal() {
  const std::uint32_t own = stranger(act_.choice);
  switch (act_.kind) {
    case Harm::kForge:
      return forge();
    case Harm::kReplay:
      return replay();
    case Harm::kFlood:
      return send_start({{own, server_address(), 7000, kDdlPort}, number_ / 8});
    case Harm::kRotatePorts:
      return send_start({{own, server_address(), any_port(), any_port()}, random_.next_u32()});
    case Harm::kRotateAddresses:
      use_name_of(rotated());
      return send_start({{rotated(), server_address(), 7000, kDdlPort}, number_ * 1000});
    case Harm::kSpoof:
      return spoof();
    case Harm::kInject:
      return inject();
    case Harm::kCheat:
      return cheat();
    default:
      return;
  }
}

void Attack::play_luck() {
  AdversaryNetwork& network = simulation_.network_;
  const bool begins = number_ == 0;
  const double share = begins ? act_.count / 1000.0 : 0;
  const Time until = simulation_.now_ + std::chrono::microseconds(act_.gap_us);
  const std::uint32_t ports = network.at(kLeftPlace).ports();
  switch (act_.kind) {
    case Harm::kLoss:
      return network.impair({.loss = share}, act_.draw);
    case Harm::kDuplicate:
      return network.impair({.duplicate = share}, act_.draw);
    case Harm::kReorder:
      return network.impair({.reorder = share}, act_.draw);
    case Harm::kKill:
      simulation_.killed_ = true;
      return network.set_down(kLeftPlace, network.port_of(kLeftPlace, "w0"), kNever);
    case Harm::kDrainPool:
      return begins ? network.drain_pool(act_.count) : network.refill_pool();
    case Harm::kLinkDown:
      if (act_.choice % 2 != 0) return network.set_down(kLeftPlace, act_.choice / 2 % ports, until);
      network.set_down(kLeftPlace, network.port_of(kLeftPlace, kTrunkPort), until);
      return network.set_down(kRightPlace, network.port_of(kRightPlace, kTrunkPort), until);
    case Harm::kRestart:
      return simulation_.restart(act_.choice % 2);
    default:
      return simulation_.reload(act_.draw);
  }
}

/// Returns the next of 1 + choice addresses: its own, or in the workers' network.
std::uint32_t Attack::rotated() const {
  const std::uint32_t n = number_ % (1 + act_.choice);
  return simulation_.network_.drawn().keys.empty() || act_.draw % 2 == 0 ? stranger(n)
                                                                         : ip("10.0.1.1") + n;
}

/// Sends a START in either form, from the strangers' port.
void Attack::send_start(const Start& start) {
  const auto h = static_cast<std::uint16_t>(5 * (1 + below(15)));
  if (act_.draw % 2 != 0 && (simulation_.network_.drawn().keys.empty() || act_.choice % 4 == 0)) {
    FrameSpec spec{.flow = start.flow, .tos = start_tos(h), .sequence = start.sequence};
    spec.tcp_flags = 0;
    return simulation_.inject(kLeftPlace, "x", bytes_of(spec));
  }
  const auto& keys = simulation_.network_.drawn().keys;
  if (!keys.empty() && act_.choice % 4 != 0) return send_tagged(start, keys.begin()->second);
  send_message(start.flow, message_of(start, h));
}

udp_signal::Signal Attack::message_of(const Start& start, std::uint16_t threshold) {
  return {.threshold_packets = threshold,
          .burst_bytes = below(3) == 0 ? 0 : below(1'000'000'000),
          .due_in = std::chrono::microseconds(below(100'000)),
          .source_port = start.flow.source_port,
          .destination_port = start.flow.destination_port,
          .sequence = start.sequence};
}

void Attack::send_message(const FlowKey& flow, const udp_signal::Signal& message) {
  std::array<std::uint8_t, udp_signal::kBytes> bytes{};
  udp_signal::encode(message, bytes);
  simulation_.inject(
      kLeftPlace, "x",
      udp_frame({flow.source_address, flow.destination_address, 5900, udp_signal::kDefaultPort},
                bytes));
}

/// Sends a START whose tag is wrong: drawn, by another key, or under an id that nobody has.
void Attack::send_tagged(const Start& start, const SignalKey& key) {
  udp_signal::Signal message = message_of(start, 10);
  message.counter = static_cast<std::uint64_t>(simulation_.now_.time_since_epoch().count()) +
                    below(1'000'000'000);
  message.proof.emplace().key_id = key.id;
  SignalKey strange = key;
  strange.secret[below(16)] ^= static_cast<std::uint8_t>(1 + below(255));
  if (act_.choice % 4 == 3) strange.id = static_cast<std::uint8_t>(key.id + 1);
  if (act_.choice % 4 == 1)
    for (auto& byte : message.proof->tag) byte = static_cast<std::uint8_t>(below(256));
  else
    udp_signal::sign(message, strange,
                     {start.flow.source_address, start.flow.destination_address, 5900,
                      udp_signal::kDefaultPort});
  send_message(start.flow, message);
}

/// Changes a byte of what a tag covers, or of the tag: of the message behind its version, of the
/// end of the source address, or of the UDP source port.
void Attack::alter(std::vector<std::uint8_t>& frame) {
  const std::uint32_t at = below(10) == 0   ? 29
                           : below(10) == 0 ? 35
                                            : kMessageAt + 5 + below(udp_signal::kBytes - 5);
  frame[at] ^= static_cast<std::uint8_t>(1 + below(255));
  reseal_ipv4(frame);
}

/// Whoever sends with a worker's address spends its share, where the address is all that counts.
void Attack::use_name_of(std::uint32_t address) {
  if (!simulation_.trust_.protects_workers()) simulation_.regulation_.impersonated(address);
}

void Attack::forge() {
  const std::uint32_t worker = ip("10.0.1.1") + act_.choice % 2;
  FlowKey flow{worker, server_address(), any_port(), kDdlPort};
  if (act_.choice % 3 == 0 && simulation_.ddl_flow_) flow = *simulation_.ddl_flow_;
  use_name_of(flow.source_address);
  send_start({flow, simulation_.ddl_sequence_ + below(100'000)});
}

void Attack::replay() {
  if (simulation_.starts_.empty()) return;
  const auto seen = static_cast<std::uint32_t>(simulation_.starts_.size());
  auto frame = simulation_.starts_[below(seen)];
  if (!simulation_.network_.drawn().keys.empty() && act_.choice % 2 != 0) alter(frame);
  use_name_of(simulation_.ddl_flow_->source_address);
  use_name_of(ip("10.0.1.1"));
  use_name_of(ip("10.0.1.2"));
  simulation_.inject(kLeftPlace, "x", frame);
}

/// Payload that looks like the burst, with numbers that the server does not take.
void Attack::spoof() {
  if (!simulation_.ddl_flow_) return;
  FrameSpec spec{.flow = *simulation_.ddl_flow_,
                 .sequence = simulation_.ddl_sequence_ + kBeyondWindows + below(kBeyondWindows)};
  spec.payload_bytes = static_cast<std::uint16_t>(1 + below(1400));
  simulation_.inject(kLeftPlace, "x", bytes_of(spec));
}

/// Announces a burst of its own; every other time it sends something, of another length.
void Attack::cheat() {
  const FlowKey flow{stranger(act_.choice), server_address(), 7100, kDdlPort};
  if (number_ % 3 != 2) return send_start({flow, number_ * 10'000});
  FrameSpec spec{.flow = flow, .sequence = number_ * 10'000};
  spec.tos = static_cast<std::uint8_t>(Ecn::kEct0);
  spec.payload_bytes = static_cast<std::uint16_t>(1 + below(1400));
  simulation_.inject(kLeftPlace, "x", bytes_of(spec));
}

/// Announces bursts that all begin at one instant (choice 0), or in groups a microsecond apart.
void Attack::clump() {
  constexpr std::uint32_t kAtOnce = 32;
  const std::uint32_t due_us = act_.at_us + kClumpDueAfter_us + number_ * act_.choice;
  for (std::uint32_t i = 0; i < kAtOnce; ++i) {
    const std::uint32_t n = number_ * kAtOnce + i;
    const FlowKey flow{stranger(n), server_address(), static_cast<std::uint16_t>(7200 + n / 200),
                       kDdlPort};
    auto message = message_of({flow, 1}, 10);
    message.due_in = Time{} + std::chrono::microseconds(due_us) - simulation_.now_;
    send_message(flow, message);
  }
}

/// Gives a forged segment its numbers. @return false if it would hit a window by chance
bool Attack::aim(FrameSpec& spec, const WindowOracle::Flow& flow, bool to_sender) {
  const std::uint32_t off = 1 + below(50'000);
  std::uint32_t& number = to_sender ? spec.acknowledgment : spec.sequence;
  const std::uint32_t first = flow.acknowledged, last = to_sender ? flow.end : flow.offered;
  switch (static_cast<Aim>(act_.choice % 3)) {
    case Aim::kBlind:
      spec.sequence = random_.next_u32();
      spec.acknowledgment = random_.next_u32();
      return far_from(number, first);
    case Aim::kNearMiss:
      // The switch may have seen an offer that has not left it yet, hence the distance above.
      number = below(2) == 0 ? first - off - spec.payload_bytes : last + kBeyondWindows + off;
      return true;
    case Aim::kInsider:
      number =
          first + below(static_cast<std::uint32_t>(std::max(1, sequence_distance(last, first))));
      return true;
  }
  return false;
}

void Attack::inject() {
  constexpr std::array<std::uint8_t, 6> kFlags{
      kTcpSyn, kTcpSyn | kTcpAck, kTcpRst, kTcpFin | kTcpAck, kTcpAck, kTcpRst | kTcpAck};
  std::vector<FlowKey> targets;
  const bool insider = static_cast<Aim>(act_.choice % 3) == Aim::kInsider;
  for (const auto& [key, flow] : simulation_.windows_.flows()) {
    const bool ddl = key.source_port == kDdlPort || key.destination_port == kDdlPort;
    const bool to_right = (key.source_address >> 8 & 0xFF) <= 2;
    if (flow.open && flow.segment_bytes > 0 && to_right && !(ddl && insider))
      targets.push_back(key);
  }
  if (targets.empty()) return;
  const FlowKey target = targets[act_.draw % targets.size()];
  const bool to_sender = below(2) == 0;
  FrameSpec spec{.flow = to_sender ? target.reversed() : target};
  spec.tcp_flags = kFlags[below(kFlags.size())];
  spec.window = static_cast<std::uint16_t>(random_.next_u32());
  spec.sequence = random_.next_u32();
  spec.acknowledgment = random_.next_u32();
  if ((spec.tcp_flags & kTcpSyn) != 0)
    spec.tcp_options = {3, 3, static_cast<std::uint8_t>(below(16)), 1};
  else if (spec.tcp_flags == kTcpAck)
    spec.payload_bytes = static_cast<std::uint16_t>(below(3) == 0 ? 1 + below(1400) : 0);
  if (!aim(spec, simulation_.windows_.flows().at(target), to_sender)) return;
  if (insider) {
    simulation_.windows_.guess(target);
    simulation_.windows_.guess(target.reversed());
  }
  simulation_.inject(to_sender ? kRightPlace : kLeftPlace, to_sender ? "y" : "x", bytes_of(spec));
}

}  // namespace outrider
