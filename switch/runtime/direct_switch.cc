#include "switch/runtime/direct_switch.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <string>
#include <utility>

namespace outrider::sw {

namespace {

EgressPort::Limits limits_of(const SwitchProcessConfig& config) {
  return {.tap = {.bursts = config.max_burst_records, .bins = config.max_bins, .bin = config.bin},
          .seed = config.seed};
}

std::unique_ptr<Handover> make_handover(std::uint32_t from, std::uint32_t to) {
  const std::string between = std::to_string(from) + "-" + std::to_string(to);
  return std::unique_ptr<Handover>(new Handover{{"packets " + between, kHandoverPackets},
                                                {"news " + between, kHandoverPackets}});
}

}  // namespace

DirectSwitch::DirectSwitch(const SwitchProcessConfig& config, PollDevices& devices,
                           std::uint32_t lcores)
    : bin_(config.bin),
      switch_(config.switches.front(), unused_, limits_of(config), lcores),
      plan_(plan_lcores(config, devices.rx_queues(), lcores)),
      ports_of_device_(config.devices.size()) {
  assert(runs_directly(config));
  const auto& ports = config.switches.front().ports;
  for (std::size_t p = 0; p < ports.size(); ++p) {
    const auto found = std::ranges::find(config.devices, *ports[p].device, &DeviceConfig::name);
    ports_of_device_[static_cast<std::size_t>(found - config.devices.begin())].push_back(
        static_cast<std::uint16_t>(p));
  }
  for (std::uint32_t from = 0; from < lcores; ++from)
    for (std::uint32_t to = 0; to < lcores; ++to)
      handovers_.push_back(from == to ? nullptr : make_handover(from, to));
  for (std::uint32_t i = 0; i < lcores; ++i) {
    SwitchWorker::Setup setup{.index = i, .plan = &plan_, .ports_of_device = &ports_of_device_};
    for (std::uint32_t other = 0; other < lcores; ++other) {
      setup.to.push_back(handovers_[i * lcores + other].get());
      setup.from.push_back(handovers_[other * lcores + i].get());
    }
    workers_.push_back(std::make_unique<SwitchWorker>(std::move(setup), switch_, devices));
  }
}

void DirectSwitch::flush() noexcept {
  for (const auto& handover : handovers_) {
    Packet* packet = nullptr;
    while (handover && handover->packets.take({&packet, 1}) != 0) release(packet);
  }
  switch_.flush();
}

std::uint64_t DirectSwitch::malformed() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& worker : workers_) sum += worker->malformed();
  return sum;
}

std::uint64_t DirectSwitch::between() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& handover : handovers_)
    if (handover) sum += handover->packets.size();
  return sum;
}

SwitchReport DirectSwitch::report(Time now) const {
  SwitchReport r;
  r.bin_ns = bin_.count();
  r.end_ns = now.time_since_epoch().count();
  r.ledger_balanced = true;
  switch_.fill(r, now, between());
  std::uint64_t left = 0, dropped = 0;
  for (std::uint32_t p = 0; p < switch_.ports(); ++p) {
    left += switch_.port(p).transmitter().output().handed_over();
    r.on_links += switch_.port(p).transmitter().output().in_service();
  }
  for (const auto& by_reason : r.drops.values)
    dropped = std::accumulate(by_reason.begin(), by_reason.end(), dropped);
  r.ledger_balanced &= r.received + r.copied == left + dropped + r.resident + r.on_links;
  r.received += malformed();
  r.drops[TrafficClass::kBackground][DropReason::kMalformed] += malformed();
  return r;
}

}  // namespace outrider::sw
