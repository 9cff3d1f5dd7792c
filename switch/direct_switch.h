#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/core/clock.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/poll_devices.h"
#include "switch/config.h"
#include "switch/live.h"
#include "switch/report.h"
#include "switch/switch.h"

namespace outrider {

/// One switch whose ports are all devices without an emulated delay: what runs on a
/// testbed. Packets go batch by batch through the stages, from one device's ring to
/// another's, without an event loop or links between.
///
/// A poll takes a batch of each device through the ingress half (parse, forward,
/// classify); then the batches are interleaved, spread evenly over the time since the
/// last poll, into the egress half, so that queues see them as they came.
///
/// Identity: received + copied == handed over + sum(dropped) + resident + in service.
/// Not thread-safe: one lcore owns it and the devices.
class DirectSwitch {
 public:
  /// Can this configuration run so? SwitchNetwork runs any.
  static bool suits(const SwitchProcessConfig& config);

  /// @param config must suit. @param devices in its order; must outlive the switch
  DirectSwitch(const SwitchProcessConfig& config, PollDevices& devices);
  DirectSwitch(const DirectSwitch&) = delete;
  DirectSwitch& operator=(const DirectSwitch&) = delete;
  ~DirectSwitch() { flush(); }

  /// Takes what has arrived since `previous`, forwards, and lets leave what is due by
  /// `now`. @pre previous <= now, and not before the last poll's
  void poll(Time previous, Time now) noexcept;

  /// Releases everything resident. Counted as resident in the report.
  void flush() noexcept { switch_.flush(); }

  [[nodiscard]] SwitchReport report(Time now) const;
  [[nodiscard]] SwitchLive live(Time now) const noexcept;

 private:
  struct Routed {
    Packet* packet = nullptr;
    std::uint16_t out = 0;  ///< egress port
    std::uint16_t in = 0;   ///< port that it came in by
  };
  /// What one device brought in this poll, behind the ingress half.
  struct Arrivals {
    std::vector<Routed> routed;  ///< capacity fixed at start-up
    std::uint32_t taken = 0;
    std::uint32_t due = 0;  ///< of the interleaving: packets x steps so far
  };

  void ingress(std::uint32_t device, std::span<Packet* const> batch, Time now) noexcept;
  [[nodiscard]] std::uint32_t port_of(std::uint32_t device, Packet& packet,
                                      Time now) const noexcept;
  void egress(Time previous, Time now) noexcept;
  void serve(Time now) noexcept;

  EventLoop unused_;  ///< what egress ports of other runtimes wait on
  Duration bin_;
  PollDevices& devices_;
  Switch switch_;
  std::vector<std::vector<std::uint16_t>> ports_of_device_;  ///< [devices]
  std::vector<Arrivals> arrivals_;                           ///< [devices]
  PortMask busy_ = 0;
  std::uint64_t malformed_ = 0;
};

}  // namespace outrider
