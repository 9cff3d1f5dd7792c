#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/poll_devices.h"
#include "common/runtime/poll_loop.h"
#include "switch/egress/port_capture.h"
#include "switch/report/snapshots.h"
#include "switch/runtime/network.h"

namespace outrider::sw {

/// Joins every edge port to the device of its name.
/// @param network,devices of the same configuration; devices in its order
void connect_devices(SwitchNetwork& network, const SwitchProcessConfig& config,
                     PollDevices& devices);

/// Who wants a copy of what leaves a port.
struct CaptureTap {
  std::string port;  ///< "switch.port"
  PortCapture* to = nullptr;
};

/// What the control plane has to do with running switches; each may be absent.
struct SwitchControl {
  SwitchSnapshots* snapshots = nullptr;  ///< ten times a second and at the end
  SwitchReload* reload = nullptr;        ///< asked once a poll
  std::vector<CaptureTap> captures{};
};

/// Forwards in real time until a stop signal or the end of `duration`, as the
/// configuration allows: batch by batch (DirectSwitch), or with the emulated links and
/// delays of a SwitchNetwork. What is resident at the end is released.
/// @param config valid; @param devices in its order
/// @param control  of the same configuration
SwitchReport run_switch(const SwitchProcessConfig& config, PollDevices& devices,
                        std::optional<Duration> duration, const SwitchControl& control = {});

}  // namespace outrider::sw
