#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/runtime/poll_devices.h"

namespace outrider {

/// Prints where a program with these devices would run, once their links are up: its CPUs, its
/// buffers, and each device with link, node and longest frame.
/// @param cpus  of its lcores  @param wait  longest time for the links
/// @return the exit status. @throws EnvironmentError if a link does not come up
int tell_devices(const std::string& program, const std::vector<std::uint32_t>& cpus,
                 PollDevices& devices, Duration wait);

}  // namespace outrider
