#include "common/runtime/device_lane.h"

#include <algorithm>
#include <numeric>

namespace outrider {
namespace {

std::vector<std::uint32_t> all_of(const PollDevices& devices) {
  std::vector<std::uint32_t> all(devices.size());
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

}  // namespace

DeviceLane::DeviceLane(PollDevices& devices) : DeviceLane(devices, all_of(devices)) {}

DeviceLane::DeviceLane(PollDevices& devices, const std::vector<std::uint32_t>& own)
    : devices_(devices), arrivals_(own.size()) {
  for (std::size_t i = 0; i < own.size(); ++i) arrivals_[i].device = own[i];
}

std::uint32_t DeviceLane::poll_all(Time previous, Time now) noexcept {
  std::uint32_t received = 0;
  for (Arrivals& a : arrivals_) {
    a.size = devices_.receive_batch(a.device, 0, a.batch);
    a.taken = 0;
    a.next = a.size == 0 ? kNever : arrival_time(previous, now, 0, a.size);
    received += a.size;
  }
  return received;
}

void DeviceLane::hold_when_full() noexcept {
  hold_ = true;
  hold_with_link();
}

void DeviceLane::hold_with_link() noexcept {
  for (const Arrivals& a : arrivals_) devices_.edge(a.device).hold(devices_.up(a.device));
}

void DeviceLane::check_links() noexcept {
  for (const Arrivals& a : arrivals_) devices_.check_link(a.device);
  if (hold_) hold_with_link();
}

bool DeviceLane::full() const noexcept {
  return std::ranges::any_of(
      arrivals_, [this](const Arrivals& a) { return devices_.edge(a.device).backpressure().full; });
}

PerClass<std::uint64_t> DeviceLane::tx_dropped() const noexcept {
  PerClass<std::uint64_t> sum;
  for (const Arrivals& a : arrivals_)
    for (std::size_t c = 0; c < kTrafficClasses; ++c)
      sum.values[c] += devices_.edge(a.device).dropped().values[c];
  return sum;
}

}  // namespace outrider
