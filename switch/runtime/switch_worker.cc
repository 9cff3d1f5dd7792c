#include "switch/runtime/switch_worker.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <utility>

#include "common/dpdk/packet/receive.h"

namespace outrider::sw {

namespace {

/// Most packets that are taken from one other lcore in one poll.
constexpr std::size_t kTakenOver = 2 * kBatchPackets;

}  // namespace

SwitchWorker::SwitchWorker(Setup setup, Switch& of, PollDevices& devices)
    : setup_(std::move(setup)),
      switch_(of),
      lane_(of.lane(setup_.index)),
      devices_(devices),
      polled_(setup_.plan->polled[setup_.index]),
      alone_(setup_.to.size() == 1),
      outgoing_(setup_.to.size()) {
  arrivals_.resize(polled_.size() + (alone_ ? 0 : setup_.from.size()));
  active_.reserve(arrivals_.size());
  const std::size_t flooded = std::size_t{kBatchPackets} * switch_.ports();
  for (auto& arrivals : arrivals_)
    arrivals.routed = BoundedList<Routed>(std::max(flooded, std::size_t{kTakenOver}));
  if (!alone_)
    for (auto& packets : outgoing_) packets.reserve(flooded * polled_.size());
  // A flooded packet reaches a port only once, so copies need no further room.
  for_port_.resize(switch_.ports());
  for (std::uint32_t p = 0; p < switch_.ports(); ++p)
    if (owns(p))
      for_port_[p] = BoundedList<PortArrival>(polled_.size() * kBatchPackets +
                                              (arrivals_.size() - polled_.size()) * kTakenOver);
  for (std::uint32_t p = 0; p < switch_.ports(); ++p) {
    if (!owns(p)) continue;
    if (switch_.port(p).grants() != nullptr) grants_ |= PortMask{1} << p;
    if (switch_.port(p).returns().concern()) takes_returns_ |= PortMask{1} << p;
  }
  takes_returns_ |= grants_;
  ports_apart_ = takes_returns_ == 0 && !switch_.shares_buffer();
  for (const std::uint32_t device : setup_.plan->serves[setup_.index])
    for (const std::uint16_t p : (*setup_.ports_of_device)[device])
      switch_.port(p).transmitter().output().connect(devices_.edge(device));
}

bool SwitchWorker::poll(Time previous, Time now) noexcept {
  active_.clear();
  bool found = false;
  std::size_t packets = 0;
  for (std::size_t left = polled_.size(); left != 0 && packets < kPollPackets; --left) {
    const std::size_t i = next_;
    if (++next_ == polled_.size()) next_ = 0;
    found |= receive(polled_[i], arrivals_[i], now);
    packets += arrivals_[i].routed.size();
  }
  if (!alone_) {
    hand_over();
    send_news();
    for (std::uint32_t lcore = 0; lcore < setup_.from.size(); ++lcore)
      if (setup_.from[lcore] != nullptr)
        take_over(*setup_.from[lcore], arrivals_[polled_.size() + lcore], now);
  }
  if (!active_.empty()) {
    found = true;
    egress(previous, now);
    if (takes_returns_ != 0) hand_over();
  }
  if (grants_ != 0) [[unlikely]]
    pass_acks(now);
  serve(now);
  for (const std::uint32_t device : setup_.plan->serves[setup_.index])
    devices_.edge(device).flush();
  return found;
}

void SwitchWorker::publish(SwitchSnapshots& to, LoopSnapshot loop, Time now) noexcept {
  loop.malformed = malformed_;
  for (const Handover* other : setup_.to)
    if (other != nullptr) loop.between += other->packets.size();
  to.loop(setup_.index).write(loop);
  SwitchCells& cells = to.cells(0);
  cells.lanes[setup_.index].write(lane_.counts());
  for (std::uint32_t p = 0; p < switch_.ports(); ++p)
    if (owns(p)) publish_counts(switch_.port(p), cells.ports[p], now);
  for (const std::uint32_t device : setup_.plan->serves[setup_.index])
    to.device(device).write({.tx_dropped = devices_.edge(device).dropped()});
}

void SwitchWorker::apply(ReloadChange& change, Time now) noexcept {
  SwitchChange& part = change.switches.front();
  swap_in(part.lanes[setup_.index], lane_);
  for (std::uint32_t p = 0; p < switch_.ports(); ++p)
    if (owns(p) && part.ports[p]) switch_.port(p).apply(*part.ports[p], now);
}

bool SwitchWorker::receive(const LcorePlan::RxQueue& from, Arrivals& arrivals, Time now) noexcept {
  std::array<Packet*, kBatchPackets> batch;
  const std::uint16_t size = devices_.receive_batch(from.device, from.queue, batch);
  if (size == 0) return false;
  const auto& ports = (*setup_.ports_of_device)[from.device];
  if (lane_.tables->forwarder.looks_at_macs()) [[unlikely]]
    for (Packet* packet : std::span(batch.data(), size)) prefetch_stations(lane_, *packet);
  const bool shared = ports.size() > 1;
  const std::uint32_t first = ports.front();
  for (Packet* packet : std::span(batch.data(), size)) {
    if (!prepare_received(*packet)) [[unlikely]] {
      ++malformed_;
      release(packet);
      continue;
    }
    const std::uint32_t port = shared ? port_of(from.device, *packet, now) : first;
    switch_.ingress(lane_, port, packet, now,
                    [this, port, to = &arrivals](std::uint16_t out, Packet* p) {
                      if ((takes_returns_ >> port & 1) != 0)
                        to->routed.push_back({p, out, static_cast<std::uint16_t>(port)});
                      else if (alone_ || owns(out)) [[likely]]
                        to->routed.push_back({p, out, kNone});
                      else set_aside(out, p);
                    });
  }
  if (!arrivals.routed.empty()) active_.push_back(&arrivals);
  return true;
}

/// Returns the ingress port. Ports that share a device are distinguished by the packet's sender.
std::uint32_t SwitchWorker::port_of(std::uint32_t device, Packet& packet, Time now) const noexcept {
  const auto& ports = (*setup_.ports_of_device)[device];
  const auto behind = sw::port_behind(lane_, packet, now);
  return behind && std::ranges::count(ports, *behind) != 0 ? *behind : ports.front();
}

void SwitchWorker::set_aside(std::uint16_t out, Packet* packet) noexcept {
  meta(*packet).egress_port = static_cast<std::uint8_t>(out);
  outgoing_[setup_.plan->owner_of_port[out]].push_back(packet);
}

/// Sends the collected packets to their lcores. A packet that finds no room in the ring is
/// dropped, as at an overrun port: the receiving lcore lags behind.
void SwitchWorker::hand_over() noexcept {
  for (std::size_t lcore = 0; lcore < setup_.to.size(); ++lcore) {
    auto& packets = outgoing_[lcore];
    if (packets.empty()) continue;
    const std::uint32_t taken = setup_.to[lcore]->packets.put(packets);
    for (std::size_t i = taken; i < packets.size(); ++i)
      take_back(lane_, *packets[i], DropReason::kHandoverFull);
    packets.clear();
  }
}

/// Sends news of stations to the other lcores. If a ring is full, that lcore learns of the
/// station when it is heard again.
void SwitchWorker::send_news() noexcept {
  auto& news = lane_.forwarding.news;
  if (news.empty()) return;
  for (Handover* other : setup_.to)
    if (other != nullptr) other->news.put(news);
  news.clear();
}

void SwitchWorker::take_over(Handover& from, Arrivals& arrivals, Time now) noexcept {
  std::array<StationNews, kBatchPackets> news;
  const std::uint32_t learned = from.news.take(news);
  for (std::uint32_t i = 0; i < learned; ++i) lane_.forwarding.learn(news[i], now);

  std::array<Packet*, kTakenOver> packets;
  const std::uint32_t taken = from.packets.take(packets);
  if (taken == 0) return;
  for (std::uint32_t i = 0; i < taken; ++i) rte_prefetch0(&meta(*packets[i]));
  for (std::uint32_t i = 0; i < taken; ++i)
    arrivals.routed.push_back({packets[i], meta(*packets[i]).egress_port, kNone});
  active_.push_back(&arrivals);
}

void SwitchWorker::egress(Time previous, Time now) noexcept {
  if (ports_apart_) [[likely]] {
    in_order(previous, now, [this](const Routed& next, Time at) {
      for_port_[next.out].push_back({next.packet, at});
      receiving_ |= PortMask{1} << next.out;
    });
    return egress_by_port();
  }
  in_order(previous, now, [this](const Routed& next, Time at) {
    if (next.in != kNone &&
        switch_.on_return(lane_, switch_.port(next.in), next.packet, next.out, at))
      return;
    if (!owns(next.out)) return set_aside(next.out, next.packet);
    switch_.egress(lane_, switch_.port(next.out), next.packet, at);
    receiving_ |= PortMask{1} << next.out;
  });
}

/// Calls `take(packet, time)` for all packets of the poll, interleaved. The time since the last
/// poll is divided into as many steps as the longest batch has packets. A shorter batch is
/// spread over the steps as evenly as whole packets allow.
template <class Take>
void SwitchWorker::in_order(Time previous, Time now, Take&& take) noexcept {
  std::uint32_t steps = 0;
  bool even = true;  // all batches are of the same length, as full ones are
  for (const Arrivals* a : active_) {
    const auto size = static_cast<std::uint32_t>(a->routed.size());
    even &= steps == 0 || size == steps;
    steps = std::max(steps, size);
  }
  const Duration step = (now - previous) / steps;
  Time at = previous;
  for (std::uint32_t s = 1; s <= steps; ++s) {
    at = s == steps ? now : at + step;
    if (even) [[likely]] {
      for (const Arrivals* a : active_) take(a->routed[s - 1], at);
      continue;
    }
    for (Arrivals* a : active_) {
      a->due += static_cast<std::uint32_t>(a->routed.size());
      while (a->due >= steps) {
        a->due -= steps;
        take(a->routed[a->taken++], at);
      }
    }
  }
  for (Arrivals* a : active_) {
    assert(even || (a->taken == a->routed.size() && a->due == 0));
    a->routed.clear();
    a->taken = 0;
  }
}

void SwitchWorker::egress_by_port() noexcept {
  for (PortMask left = receiving_; left != 0; left &= left - 1) {
    const auto p = static_cast<std::uint32_t>(std::countr_zero(left));
    switch_.egress(lane_, switch_.port(p), for_port_[p].all());
    for_port_[p].clear();
  }
}

/// Lets ACKs pass that wait and may. They may leave by any port.
void SwitchWorker::pass_acks(Time now) noexcept {
  std::uint32_t passed = 0;
  for (PortMask left = grants_; left != 0; left &= left - 1)
    passed += switch_.port(static_cast<std::uint32_t>(std::countr_zero(left))).grants()->poll(now);
  if (passed == 0) return;
  for (std::uint32_t p = 0; p < switch_.ports(); ++p) receiving_ |= PortMask{1} << p;
}

void SwitchWorker::serve(Time now) noexcept {
  busy_ |= std::exchange(receiving_, 0);
  for (PortMask left = busy_; left != 0; left &= left - 1) {
    PortTransmitter& transmitter =
        switch_.port(static_cast<std::uint32_t>(std::countr_zero(left))).transmitter();
    transmitter.serve_until(now);
    if (!transmitter.has_work()) busy_ &= ~(left & -left);
  }
}

}  // namespace outrider::sw
