#include "common/runtime/poll_devices.h"

#include "common/dpdk/eal/error.h"
#include "common/dpdk/port/numa_check.h"
#include "common/runtime/poll_stop.h"
#include "common/telemetry/log.h"

namespace outrider {

PollDevices::PollDevices(const std::vector<PortConfig>& configs, rte_mempool& rx_pool) {
  devices_.reserve(configs.size());
  for (const auto& config : configs) devices_.push_back(std::make_unique<Device>(config, rx_pool));
  std::vector<const Port*> ports;
  for (const auto& device : devices_) ports.push_back(&device->port);
  for (const auto& line : numa_warnings(ports, rx_pool)) log_warn(line);
  constexpr Duration kLogInterval = std::chrono::milliseconds(100);
  link_log_ = std::make_unique<ControlThread>("links", kLogInterval, [this] {
    check_peers();
    log_links();
  });
}

PollDevices::~PollDevices() {
  link_log_.reset();
  log_links();
}

std::vector<std::uint16_t> PollDevices::rx_queues() const {
  std::vector<std::uint16_t> queues;
  for (const auto& device : devices_) queues.push_back(device->port.rx_queues());
  return queues;
}

DeviceLosses PollDevices::losses() const {
  DeviceLosses sum;
  for (const auto& device : devices_) sum.add(device->port.name(), device->port.losses());
  return sum;
}

PerClass<std::uint64_t> PollDevices::tx_dropped() const noexcept {
  PerClass<std::uint64_t> sum;
  for (const auto& device : devices_)
    for (std::size_t c = 0; c < kTrafficClasses; ++c)
      sum.values[c] += device->edge.dropped().values[c];
  return sum;
}

bool PollDevices::check_links() noexcept {
  bool all = true;
  for (std::size_t d = 0; d < devices_.size(); ++d) all &= check_link(d);
  return all;
}

bool PollDevices::check_link(std::size_t d) noexcept {
  Device& device = *devices_[d];
  const bool up = device.port.link_up();
  if (up != device.up()) device.link_changes.fetch_add(1, std::memory_order_relaxed);
  if (device.port.leaving()) [[unlikely]]
    request_stop();
  return up;
}

void PollDevices::check_peers() {
  for (auto& device : devices_) {
    const std::string socket = device->port.check_peer();
    if (!socket.empty())
      log_warn("device " + device->port.name() + ": hung up on the peer at " + socket +
               ", which did not bring the link up: it is no vhost-user backend, or stands still. "
               "Waiting for the next peer; end whatever else connects there.");
  }
}

/// Logs the state of each link that has changed since the last call. Of changes between two
/// calls only the last is logged, and whether the link was away in between.
void PollDevices::log_links() {
  for (auto& device : devices_) {
    const std::uint32_t changes = device->link_changes.load(std::memory_order_relaxed);
    const std::uint32_t news = changes - device->changes_logged;
    device->changes_logged = changes;
    if (news == 0) continue;
    const bool up = (changes & 1) != 0;
    log_info("device " + device->port.name() + (up ? ": link is up" : ": link is down") +
             (news == 1 ? "" : ", after " + std::to_string(news) + " changes"));
  }
}

std::string PollDevices::down() const {
  std::string names;
  for (const auto& device : devices_)
    if (!device->up()) names += (names.empty() ? "" : ", ") + device->port.name();
  return names;
}

void PollDevices::require_all() const {
  std::string names;
  for (const auto& device : devices_)
    if (device->port.leaving()) names += (names.empty() ? "" : ", ") + device->port.name();
  if (names.empty()) return;
  throw EnvironmentError("device " + names +
                         ": was unplugged, so the run has ended early; what is reported ends "
                         "there. Put the device back and start again.");
}

}  // namespace outrider
