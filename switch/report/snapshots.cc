#include "switch/report/snapshots.h"

#include <algorithm>

#include "common/runtime/poll_devices.h"
#include "common/runtime/poll_loop.h"
#include "common/telemetry/add_fields.h"
#include "switch/report/with_devices.h"

namespace outrider::sw {

void add_lane(SwitchReport& report, const LaneCounts& lane) {
  report.received += lane.received;
  report.copied += lane.copied;
  report.pauses_taken += lane.pauses_taken;
  add_fields(base_of<SignalCounts>(report), base_of<SignalCounts>(lane));
  add_fields(base_of<FlowletCounters>(report), base_of<FlowletCounters>(lane));
  for (std::size_t r = 0; r < lane.dropped.size(); ++r)
    report.drops[TrafficClass::kBackground][r] += lane.dropped[r];
}

bool add_queue(SwitchReport& report, const QueueCounts& queue) {
  for (std::size_t c = 0; c < kTrafficClasses; ++c)
    for (std::size_t r = 0; r < kDropReasons; ++r)
      report.drops.values[c][r] += queue.drops.values[c][r];
  report.transmitted += sum(queue.transmitted);
  report.resident += sum(queue.resident) + queue.held_answers;
  report.pause_frames += queue.pause_frames;
  return balanced(queue);
}

SwitchSnapshots::SwitchSnapshots(const SwitchProcessConfig& config, std::size_t loops,
                                 const PollDevices* devices)
    : polled_(devices), loops_(loops), devices_(config.devices.size()) {
  for (const auto& device : config.devices) device_names_.push_back(device.name);
  for (const auto& sw : config.switches) {
    Names& names = names_.emplace_back(Names{sw.name, {}});
    SwitchCells& cells = switches_.emplace_back(loops);
    for (const auto& port : sw.ports) {
      names.ports.push_back(port.name);
      cells.ports.emplace_back(queues_of(port).size());
    }
  }
}

void SwitchSnapshots::add_switch(SwitchReport& report, std::size_t index) const {
  for (const auto& lane : switches_[index].lanes) add_lane(report, lane.read());
  for (std::size_t p = 0; p < names_[index].ports.size(); ++p) {
    const PortCells& cells = switches_[index].ports[p];
    report.on_links += cells.port.read().in_service;
    for (std::size_t q = 0; q < cells.queues.size(); ++q) {
      QueueReport& queue = report.queues.emplace_back();
      static_cast<QueueCounts&>(queue) = cells.queues[q].read();
      queue.switch_name = names_[index].name;
      queue.port_name = names_[index].ports[p];
      queue.queue = static_cast<std::uint32_t>(q);
      report.ledger_balanced &= add_queue(report, queue);
    }
  }
}

SwitchReport SwitchSnapshots::read() const {
  SwitchReport report;
  report.ledger_balanced = true;
  std::uint64_t malformed = 0;
  PollTimes times{};
  for (const auto& cell : loops_) {
    const LoopSnapshot loop = cell.read();
    report.end_ns = std::max(report.end_ns, loop.at_ns);
    report.on_links += loop.on_links;
    report.resident += loop.between;
    malformed += loop.malformed;
    times.longest_gap = std::max(times.longest_gap, Duration{loop.longest_poll_gap_ns});
    times.busy += Duration{loop.busy_ns};
  }
  for (std::size_t s = 0; s < switches_.size(); ++s) add_switch(report, s);
  PerClass<std::uint64_t> tx_dropped;
  for (const auto& cell : devices_) {
    const DeviceSnapshot device = cell.read();
    for (std::size_t c = 0; c < kTrafficClasses; ++c)
      tx_dropped.values[c] += device.tx_dropped.values[c];
  }
  const DeviceLosses losses = polled_ != nullptr ? polled_->losses() : DeviceLosses{};
  return with_devices(std::move(report), tx_dropped, malformed, losses, times);
}

std::vector<PortRate> SwitchSnapshots::read_rates() const {
  std::vector<PortRate> rates;
  for (std::size_t s = 0; s < names_.size(); ++s)
    for (std::size_t p = 0; p < names_[s].ports.size(); ++p) {
      const PortSnapshot port = switches_[s].ports[p].port.read();
      rates.push_back({names_[s].name, names_[s].ports[p], port.drain_rate, port.overhead_bytes});
    }
  return rates;
}

std::vector<SwitchSnapshots::Device> SwitchSnapshots::read_devices() const {
  const std::uint64_t up = loops_.front().read().links_up;
  std::vector<Device> devices;
  for (std::size_t d = 0; d < devices_.size(); ++d)
    devices.push_back({device_names_[d], devices_[d].read(), (up >> d & 1) != 0});
  return devices;
}

}  // namespace outrider::sw
