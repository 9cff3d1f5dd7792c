#include "switch/direct_switch.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>
#include <numeric>

#include "common/dpdk/receive.h"
#include "switch/parse.h"

namespace outrider {

namespace {

EgressPort::Limits limits_of(const SwitchProcessConfig& config) {
  return {.tap = {.bursts = config.max_burst_records, .bins = config.max_bins, .bin = config.bin},
          .seed = config.seed};
}

}  // namespace

bool DirectSwitch::suits(const SwitchProcessConfig& config) {
  if (config.switches.size() != 1 || !config.links.empty()) return false;
  const auto& ports = config.switches.front().ports;
  return ports.size() <= std::numeric_limits<PortMask>::digits &&
         std::ranges::all_of(ports, [](const SwitchPortConfig& port) {
           return port.device.has_value() && port.delay == Duration::zero();
         });
}

DirectSwitch::DirectSwitch(const SwitchProcessConfig& config, PollDevices& devices)
    : bin_(config.bin),
      devices_(devices),
      switch_(config.switches.front(), unused_, limits_of(config)),
      ports_of_device_(config.devices.size()),
      arrivals_(config.devices.size()) {
  assert(suits(config));
  const auto& ports = config.switches.front().ports;
  for (auto& arrivals : arrivals_) arrivals.routed.reserve(kBatchPackets * ports.size());
  const auto count = static_cast<std::uint16_t>(ports.size());
  for (std::uint16_t p = 0; p < count; ++p) {
    const auto found = std::ranges::find(config.devices, *ports[p].device, &DeviceConfig::name);
    const auto device = static_cast<std::size_t>(found - config.devices.begin());
    ports_of_device_[device].push_back(p);
    switch_.port(p).connect(devices.edge(device), busy_, p);
  }
}

void DirectSwitch::poll(Time previous, Time now) noexcept {
  devices_.receive_batches(
      [&](std::uint32_t device, std::span<Packet* const> batch) { ingress(device, batch, now); });
  egress(previous, now);
  serve(now);
  devices_.flush();
}

void DirectSwitch::ingress(std::uint32_t device, std::span<Packet* const> batch,
                           Time now) noexcept {
  auto& routed = arrivals_[device].routed;
  const auto& ports = ports_of_device_[device];
  for (Packet* packet : batch) {
    if (!prepare_received(*packet)) [[unlikely]] {
      ++malformed_;
      release(packet);
      continue;
    }
    const std::uint32_t port = ports.size() == 1 ? ports.front() : port_of(device, *packet, now);
    switch_.ingress(switch_.lane(0), port, packet, now, [&](std::uint16_t out, Packet* p) {
      routed.push_back({p, out, static_cast<std::uint16_t>(port)});
    });
  }
}

/// Ports that share a device are told apart by who sent the packet.
std::uint32_t DirectSwitch::port_of(std::uint32_t device, Packet& packet, Time now) const noexcept {
  const auto& ports = ports_of_device_[device];
  const auto behind = switch_.port_behind(packet, now);
  return behind && std::ranges::count(ports, *behind) != 0 ? *behind : ports.front();
}

/// Steps through the time since the last poll, as many steps as the longest batch has
/// packets; a shorter batch is spread over them as evenly as whole packets allow.
void DirectSwitch::egress(Time previous, Time now) noexcept {
  std::uint32_t steps = 0;
  for (const auto& a : arrivals_)
    steps = std::max(steps, static_cast<std::uint32_t>(a.routed.size()));
  if (steps == 0) return;
  const Duration step = (now - previous) / steps;
  Time at = previous;
  for (std::uint32_t s = 1; s <= steps; ++s) {
    at = s == steps ? now : at + step;
    for (auto& a : arrivals_) {
      a.due += static_cast<std::uint32_t>(a.routed.size());
      while (a.due >= steps) {
        a.due -= steps;
        const Routed& next = a.routed[a.taken++];
        switch_.port(next.in).on_return(*next.packet, at);
        switch_.egress(switch_.lane(0), switch_.port(next.out), next.packet, at);
      }
    }
  }
  for (auto& a : arrivals_) {
    assert(a.taken == a.routed.size() && a.due == 0);
    a.routed.clear();
    a.taken = 0;
  }
}

void DirectSwitch::serve(Time now) noexcept {
  for (PortMask left = busy_; left != 0; left &= left - 1)
    switch_.port(static_cast<std::uint32_t>(std::countr_zero(left))).serve_until(now);
}

SwitchLive DirectSwitch::live(Time now) const noexcept {
  SwitchLive live{.at_ns = now.time_since_epoch().count()};
  switch_.add_to(live);
  live.received += malformed_;
  live.drops[static_cast<std::size_t>(DropReason::kMalformed)] += malformed_;
  return live;
}

SwitchReport DirectSwitch::report(Time now) const {
  SwitchReport r;
  r.bin_ns = bin_.count();
  r.end_ns = now.time_since_epoch().count();
  r.ledger_balanced = true;
  switch_.fill(r, now);
  std::uint64_t left = 0, dropped = 0;
  for (std::uint32_t p = 0; p < switch_.ports(); ++p) {
    left += switch_.port(p).handed_over();
    r.on_links += switch_.port(p).in_service();
  }
  for (const auto& by_reason : r.drops.values)
    dropped = std::accumulate(by_reason.begin(), by_reason.end(), dropped);
  r.ledger_balanced &= r.received + r.copied == left + dropped + r.resident + r.on_links;
  r.received += malformed_;
  r.drops[TrafficClass::kBackground][static_cast<std::size_t>(DropReason::kMalformed)] +=
      malformed_;
  return r;
}

}  // namespace outrider
