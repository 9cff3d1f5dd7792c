#pragma once

#include <string>

namespace outrider {

/// Says whether net_af_packet would fail in this process, and would not in one with another id.
/// It makes the number of a fanout group of process id XOR index of the interface, and has no
/// option for it; the kernel refuses a number that a group of another interface in this network
/// namespace has. Asks the kernel with a socket of its own.
/// @param device  a virtual device as DPDK names it; another driver's is never in the way
/// @return false also where nothing can be asked, because of missing rights or interfaces: what
/// attaches the device says so
[[nodiscard]] bool fanout_group_is_taken(const std::string& device);

}  // namespace outrider
