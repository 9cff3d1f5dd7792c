#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "switch/egress/parts/port_capture.h"
#include "switch/runtime/network.h"
#include "tools/lab/experiment/case.h"
#include "tools/lab/simulation/port_packets.h"

namespace outrider::lab {

/// Returns the memory that a run's captures take at most: packets as they are kept, and the files
/// made of them, which are there twice when the run ends.
std::uint64_t capture_memory_bytes(const Observed& observed) noexcept;

/// Keeps the packets that leave ports during a run in virtual time. Memory is reserved at
/// construction: a port keeps so many packets as its bound says, and then none. Not thread-safe.
class PortRecorder {
 public:
  explicit PortRecorder(const Observed& observed);

  /// Follows the ports that the network has. Call it before the first packet; this must outlive
  /// the last one.
  void attach(const sw::SwitchNetwork& network);
  /// Takes the packets out. Times are those of the run, as if it began in 1970.
  [[nodiscard]] std::vector<PortPackets> take();

 private:
  std::uint32_t most_;
  std::vector<std::string> ports_;
  std::vector<std::unique_ptr<sw::PortCapture>> packets_;  ///< [ports_]
};

}  // namespace outrider::lab
