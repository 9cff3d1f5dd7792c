#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/poll_devices.h"
#include "common/runtime/poll_loop.h"
#include "switch/egress/parts/port_capture.h"
#include "switch/report/snapshots.h"
#include "switch/runtime/network.h"

namespace outrider::sw {

/// Connects every edge port to its device.
/// @param network,devices  of the same configuration; devices in its order
void connect_devices(SwitchNetwork& network, const SwitchProcessConfig& config,
                     PollDevices& devices);

/// Asks for a copy of the packets that leave a port.
struct CaptureTap {
  std::string port;  ///< "switch.port"
  PortCapture* to = nullptr;
};

/// The connections of running switches to the control plane. Each may be absent.
struct SwitchControl {
  SwitchSnapshots* snapshots = nullptr;  ///< written ten times a second and at the end
  SwitchReload* reload = nullptr;        ///< polled once per poll of a loop
  std::vector<CaptureTap> captures{};
};

/// Forwards in real time until a stop signal or the end of `duration`. Packets pass batch by
/// batch (DirectSwitch) if the configuration allows it, else through the emulated links and
/// delays of a SwitchNetwork. Packets that are resident at the end are released.
/// @param config valid. @param devices  in its order
/// @param control  of the same configuration
SwitchReport run_switch(const SwitchProcessConfig& config, PollDevices& devices,
                        std::optional<Duration> duration, const SwitchControl& control = {});

}  // namespace outrider::sw
