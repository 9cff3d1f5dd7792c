#include "switch/runtime/switch.h"

#include <numeric>
#include <span>

#include "common/net/pause_frame.h"
#include "switch/config/config_toml.h"
#include "switch/config/same_settings.h"

namespace outrider::sw {

namespace {

std::unique_ptr<SharedBuffer> make_buffer(const SwitchConfig& config) {
  if (!config.buffer.total_bytes) return nullptr;
  std::vector<SharedBuffer::QueueShare> shares;
  for (const auto& port : config.ports)
    for (const auto& queue : queues_of(port))
      shares.push_back({queue.queue.reserved_bytes, queue.queue.alpha});
  const auto lossless = LosslessBuffer::shares_of(config);
  shares.insert(shares.end(), lossless.begin(), lossless.end());
  return std::make_unique<SharedBuffer>(*config.buffer.total_bytes - lossless_own_bytes(config),
                                        shares);
}

std::optional<HopRecorder> hops_of(const SwitchConfig& config, std::uint32_t index,
                                   std::size_t port) {
  if (!config.hop_records.udp_port) return std::nullopt;
  return HopRecorder(*config.hop_records.udp_port, hop_id_of(config.hop_records, index),
                     static_cast<std::uint8_t>(port));
}

/// Returns the port's number in telemetry, which need not be its own alone: a hash of the path.
std::optional<std::uint16_t> telemetry_hop_of(const SwitchConfig& config, std::uint32_t index,
                                              std::size_t port) {
  constexpr std::size_t kPorts = 64;
  if (!config.hop_records.roce) return std::nullopt;
  return static_cast<std::uint16_t>(kPorts * hop_id_of(config.hop_records, index) + port);
}

}  // namespace

Switch::Switch(const SwitchConfig& config, EventLoop& loop, const EgressPort::Limits& limits,
               std::size_t lanes, std::uint32_t index)
    : name_(config.name),
      index_(index),
      seed_(limits.seed),
      tables_(std::make_unique<SwitchTables>(config, index)) {
  buffer_ = make_buffer(config);
  lossless_ = LosslessBuffer::make(config, buffer_.get());
  EgressPort::Limits of_port = limits;
  of_port.buffer = buffer_.get();
  of_port.lossless = lossless_.get();
  of_port.signers = shares_of(config.signals);
  for (const auto& port : config.ports) {
    of_port.hops = hops_of(config, index, ports_.size());
    of_port.telemetry_hop = telemetry_hop_of(config, index, ports_.size());
    ports_.push_back(std::make_unique<EgressPort>(port, loop, of_port));
    if (PortGrants* grants = ports_.back()->grants()) grants->connect(*this);
    of_port.first_queue += ports_.back()->queues().size();
    ++of_port.number;
  }
  join_subscribers(config);
  for (std::size_t i = 0; i < lanes; ++i)
    lanes_.emplace_back(config, *tables_, seed_, lossless_ != nullptr, lanes == 1);
}

/// Subscribes queues to the bursts of ports.
void Switch::join_subscribers(const SwitchConfig& config) {
  for (std::size_t of = 0; of < ports_.size(); ++of) {
    const auto queues = queues_of(config.ports[of]);
    for (std::size_t q = 0; q < queues.size(); ++q) {
      const Subscription to = queues[q].regulation.hears;
      for (std::size_t p = 0; p < ports_.size(); ++p)
        if (to == Subscription::kSwitch || (to == Subscription::kPort && p == of))
          ports_[p]->subscribe(ports_[of]->queues()[q], p == of);
    }
  }
}

SwitchChange Switch::prepare(const SwitchConfig& from, const SwitchConfig& to) const {
  const auto without_ports = [](SwitchConfig config) {
    config.ports.clear();
    return config;
  };
  const bool same_signals =
      same_settings(from.signals, to.signals) && same_keys(from.signals, to.signals);
  const SignerShares signers = shares_of(to.signals);
  const bool new_signers = signers != shares_of(from.signals);
  SwitchChange change;
  change.lanes.resize(lanes_.size());
  if (!same_settings(without_ports(from), without_ports(to)))
    change.tables = std::make_unique<SwitchTables>(to, index_);
  for (auto& lane : change.lanes) {
    lane.tables = change.tables.get();
    if (change.tables) lane.spreading = change.tables->forwarder.make_spreading(seed_);
    if (!same_signals) lane.gate.emplace(to);
  }
  for (std::size_t p = 0; p < ports_.size(); ++p)
    change.ports.push_back(ports_[p]->prepare(from.ports[p], to.ports[p], signers, new_signers));
  return change;
}

void Switch::apply(SwitchChange& change, Time now) noexcept {
  for (std::size_t i = 0; i < lanes_.size(); ++i) swap_in(change.lanes[i], lanes_[i]);
  for (std::size_t p = 0; p < ports_.size(); ++p)
    if (change.ports[p]) ports_[p]->apply(*change.ports[p], now);
}

void Switch::take_pause(SwitchLane& lane, std::uint32_t port, Packet* packet, Time now) noexcept {
  const auto frame = decode_pause_frame(buffer(*packet));
  ++lane.pauses_taken;
  release(packet);
  if (PortPauses* const pauses = ports_[port]->pauses()) pauses->on_frame(*frame, now);
}

/// ACKs wait where one lcore has the switch.
void Switch::pass_ack(Packet* ack, std::uint16_t out, Time now) noexcept {
  egress(lanes_.front(), *ports_[out], ack, now);
}

void Switch::drop_ack(Packet* ack) noexcept {
  take_back(lanes_.front(), *ack, DropReason::kRepeatedAnswer);
}

void Switch::publish(SwitchCells& to, Time now) noexcept {
  for (std::size_t i = 0; i < lanes_.size(); ++i) to.lanes[i].write(lanes_[i].counts());
  for (std::size_t p = 0; p < ports_.size(); ++p) publish_counts(*ports_[p], to.ports[p], now);
}

void Switch::fill(SwitchReport& report, Time now, std::uint64_t between) const {
  std::uint64_t entered = 0, arrived = between;
  report.resident += between;
  for (const auto& lane : lanes_) {
    add_lane(report, lane.counts());
    entered += lane.received + lane.copied;
    arrived += lane.pauses_taken;
    arrived = std::accumulate(lane.dropped.begin(), lane.dropped.end(), arrived);
  }
  const std::size_t first = report.queues.size();
  for (const auto& port : ports_) append_reports(*port, report.queues, now);
  for (auto& queue : std::span(report.queues).subspan(first)) {
    queue.switch_name = name_;
    report.ledger_balanced &= add_queue(report, queue);
    entered += queue.pause_frames;
    arrived += queue.held_answers;
    for (const std::uint64_t of_class : queue.arrived.values) arrived += of_class;
  }
  report.ledger_balanced &= arrived == entered;
}

void Switch::flush() noexcept {
  for (auto& port : ports_) port->flush();
}

}  // namespace outrider::sw
