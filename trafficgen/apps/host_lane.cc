#include "trafficgen/apps/host_lane.h"

#include <algorithm>
#include <string>

#include "common/config/process_checks.h"

namespace outrider::tg {
namespace {

std::vector<std::uint32_t> devices_of(const GeneratorConfig& config, const LcoreShare& share) {
  std::vector<std::uint32_t> own;
  for (std::uint32_t d = 0; d < config.devices.size(); ++d)
    if (share.has_device(d)) own.push_back(d);
  return own;
}

}  // namespace

HostLane::HostLane(const GeneratorConfig& config, const Generator::Options& options,
                   rte_mempool& pool, PollDevices& devices)
    : share_(options.share),
      generator_(config, loop_, pool, options),
      devices_(devices, devices_of(config, share_)),
      egress_(config.devices.size()) {
  for (std::uint32_t d = 0; d < egress_.size(); ++d)
    if (share_.has_device(d)) egress_[d] = &generator_.egress(d, devices.edge(d));
  for (std::uint32_t h = 0; h < config.hosts.size(); ++h) {
    const std::uint32_t device = device_of(config, config.hosts[h]);
    if (generator_.has_host(h) && egress_[device] != nullptr)
      connect(h, *egress_[device], 0, devices.edge(device).backpressure());
  }
}

void HostLane::connect(std::uint32_t host, Node& to, std::uint32_t port,
                       const Backpressure& backpressure) {
  wires_.push_back(std::make_unique<Link>(loop_, Duration{}, to, port));
  generator_.connect(host, *wires_.back(), &backpressure);
}

void HostLane::borrow_devices(HostLane& owner) {
  const std::string lanes = std::to_string(share_.lcore) + "_" + std::to_string(owner.share_.lcore);
  LaneHandover& sent = *to_owners_.emplace_back(std::make_unique<LaneHandover>("sent_" + lanes));
  owner.for_devices_.push_back(&sent);
  LaneHandover& received =
      *owner.to_borrowers_.emplace_back(std::make_unique<LaneHandover>("received_" + lanes));
  for_hosts_.push_back(&received);
  owner.generator_.connect_lcore(share_.lcore, received);
  const GeneratorConfig& config = generator_.config();
  for (std::uint32_t h = 0; h < config.hosts.size(); ++h) {
    const std::uint32_t device = device_of(config, config.hosts[h]);
    if (generator_.has_host(h) && owner.egress_[device] != nullptr)
      connect(h, sent, device, sent.backpressure());
  }
}

void HostLane::begin_poll(const PollInstant& at) noexcept {
  for (const auto& sent : to_owners_) sent->flush();
  for (const auto& arrived : to_borrowers_) arrived->flush();
  for (LaneHandover* from : for_hosts_)
    from->take([&](std::uint32_t device, Packet* packet) {
      generator_.receive_from_device(device, packet, at.previous);
    });
  // A full device stops them all, until they stop the hosts of the other lanes.
  if (!for_devices_.empty() && !devices_.full()) send_for_others(at.previous);
}

void HostLane::send_for_others(Time now) noexcept {
  for (LaneHandover* from : for_devices_)
    from->take(
        [&](std::uint32_t device, Packet* packet) { egress_[device]->receive(0, packet, now); });
}

void HostLane::finish(Time now) noexcept {
  for (LaneHandover* from : for_devices_) {
    while (from->resident() != 0) {
      from->flush();
      send_for_others(now);
      devices_.flush();
    }
  }
}

TrafficLive HostLane::live(Time now) const noexcept {
  TrafficLive live = generator_.live(now);
  add_to(live);
  return live;
}

HostLanes make_host_lanes(const GeneratorConfig& config, const Generator::Options& options,
                          rte_mempool& pool, PollDevices& devices) {
  const auto lcores = static_cast<std::uint32_t>(cpus_of(config).size());
  const LcorePlan plan = plan_lcores(config, lcores);
  HostLanes lanes;
  for (std::uint32_t lcore = 0; lcore < lcores; ++lcore) {
    Generator::Options own = options;
    own.share = {.plan = plan, .lcore = lcore};
    lanes.push_back(std::make_unique<HostLane>(config, own, pool, devices));
  }
  for (const Borrowing& pair : borrowings(config, plan))
    lanes[pair.borrower]->borrow_devices(*lanes[pair.owner]);
  return lanes;
}

}  // namespace outrider::tg
