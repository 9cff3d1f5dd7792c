#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/core/clock.h"

namespace outrider::tg {

/// The Ethernet frames of a capture, in memory. Immutable once loaded.
struct PcapTrace {
  struct Packet {
    Duration at{};             ///< since the first packet; does not decrease
    std::uint64_t offset = 0;  ///< into `bytes`
    std::uint32_t size = 0;    ///< [bytes] without FCS
  };
  std::vector<Packet> packets;
  std::vector<std::uint8_t> bytes;
  std::uint64_t padded = 0;     ///< packets that the capture had cut, padded here with zeros
  std::uint64_t skipped = 0;    ///< packets that were left out because they are too long
  std::uint64_t backwards = 0;  ///< stamps earlier than the previous packet's; taken as equal to it
  std::size_t first_backwards = 0;  ///< the first packet with such a stamp, if there is any

  [[nodiscard]] std::span<const std::uint8_t> frame(std::size_t i) const noexcept {
    return {bytes.data() + packets[i].offset, packets[i].size};
  }
};

struct PcapLimits {
  std::uint64_t max_bytes = 1ULL << 30;  ///< of frames and their index in memory
  bool pad_cut = false;                  ///< else a packet cut by the snap length is a fault
  bool skip_long = false;                ///< else a packet beyond 9014 bytes is a fault
  bool options = false;                  ///< messages name --pad-cut and --skip-long
};

struct PcapResult {
  PcapTrace trace{};
  std::string problem{};  ///< empty if the trace is usable
};

/// Reads a whole pcap or pcapng file of Ethernet frames. It refuses, with the reason and the
/// packet, a file that cannot be opened, is no capture, is empty or truncated, has another link
/// type, cut packets (unless padded), frames beyond 9014 bytes (unless skipped), or more than
/// max_bytes.
PcapResult load_pcap(const std::string& path, const PcapLimits& limits);

}  // namespace outrider::tg
