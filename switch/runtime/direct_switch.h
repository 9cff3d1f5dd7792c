#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/core/clock.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/poll_devices.h"
#include "switch/config/config.h"
#include "switch/config/lcore_plan.h"
#include "switch/report/report.h"
#include "switch/runtime/switch.h"
#include "switch/runtime/switch_worker.h"

namespace outrider::sw {

/// One switch whose ports are all devices without an emulated delay, as on a testbed. Packets
/// pass the stages batch by batch, from one device's ring to another's, without an event loop
/// or links. It runs on one lcore or on several, each with its worker().
///
/// Identity: received + copied == handed over + sum(dropped) + resident + in service.
/// A worker belongs to its lcore. All other functions are for one thread, while no worker
/// polls.
class DirectSwitch {
 public:
  /// @pre runs_directly(config); SwitchNetwork runs any configuration, on one lcore
  /// @param devices  in the order of the configuration; must outlive the switch
  /// @param lcores  number of lcores that will poll, >= 1
  /// @throws DpdkError
  DirectSwitch(const SwitchProcessConfig& config, PollDevices& devices, std::uint32_t lcores = 1);
  DirectSwitch(const DirectSwitch&) = delete;
  DirectSwitch& operator=(const DirectSwitch&) = delete;
  ~DirectSwitch() { flush(); }

  [[nodiscard]] std::uint32_t workers() const noexcept {
    return static_cast<std::uint32_t>(workers_.size());
  }
  [[nodiscard]] SwitchWorker& worker(std::uint32_t lcore) noexcept { return *workers_[lcore]; }

  /// Returns the switches that a reload may change, see SwitchReload.
  [[nodiscard]] std::vector<Switch*> switches() noexcept { return {&switch_}; }

  /// Releases all resident packets. A report made before counts them as resident.
  void flush() noexcept;

  [[nodiscard]] SwitchReport report(Time now) const;

 private:
  [[nodiscard]] std::uint64_t malformed() const noexcept;
  /// Returns the number of packets on the way from one lcore to another.
  [[nodiscard]] std::uint64_t between() const noexcept;

  EventLoop unused_;  ///< never runs; the egress ports of other runtimes need an event loop
  Duration bin_;
  Switch switch_;
  LcorePlan plan_;
  std::vector<std::vector<std::uint16_t>> ports_of_device_;  ///< [devices] ports behind it
  std::vector<std::unique_ptr<Handover>> handovers_;  ///< [from * lcores + to]; nullptr if equal
  std::vector<std::unique_ptr<SwitchWorker>> workers_;
};

}  // namespace outrider::sw
