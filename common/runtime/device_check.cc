#include "common/runtime/device_check.h"

#include <rte_eal.h>
#include <rte_ether.h>

#include <cstdio>
#include <iostream>

#include "common/runtime/poll_loop.h"
#include "common/runtime/poll_program.h"
#include "common/telemetry/exit_status.h"

namespace outrider {
namespace {

constexpr std::uint32_t kAroundPacketBytes = RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;

std::string link_text(const Port& port) {
  if (port.is_virtual()) return "up, virtual: no rate of its own";
  const BitRate rate = port.link_rate();
  if (rate.bits_per_second == 0) return "up, rate not known";
  char text[40];
  std::snprintf(text, sizeof text, "up at %g Gbit/s",
                static_cast<double>(rate.bits_per_second) / 1e9);
  return text;
}

std::string node_text(const Port& port) {
  const auto node = port.numa_node();
  return node ? "node " + std::to_string(*node) : "no node";
}

}  // namespace

int tell_devices(const std::string& program, const std::vector<std::uint32_t>& cpus,
                 PollDevices& devices, Duration wait) {
  if (!wait_for_links(devices, wait)) return kExitInterrupted;
  std::cout << program << " starts here, on " << named_cpus(cpus) << ", with its buffers in "
            << (rte_eal_has_hugepages() != 0 ? "huge" : "ordinary") << " pages\n";
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Port& port = devices.port(i);
    std::cout << "  device " << port.name() << ": link " << link_text(port) << ", "
              << node_text(port) << ", frames of at most " << port.mtu_bytes() + kAroundPacketBytes
              << " bytes\n";
  }
  return kExitOk;
}

}  // namespace outrider
