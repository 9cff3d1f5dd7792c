#include "common/runtime/poll_loop.h"

#include <chrono>
#include <string>
#include <thread>

#include "common/dpdk/eal/error.h"
#include "common/telemetry/log.h"

namespace outrider {

bool wait_for_links(PollDevices& devices, Duration timeout) {
  const TscClock clock;
  for (bool told = false; !devices.check_links(); told = true) {
    if (stop_requested()) return false;
    if (clock.now().time_since_epoch() >= timeout)
      throw EnvironmentError("no link within " + std::to_string(seconds(timeout)) +
                             " s on device " + devices.down() +
                             ". Start the other end, or wait longer with --wait-for-peer.");
    if (!told) log_info("waiting for the link of device " + devices.down());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace outrider
