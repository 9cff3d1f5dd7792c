#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/config_result.h"
#include "common/core/clock.h"
#include "trafficgen/import/pcap_trace.h"

namespace outrider::tg {

/// The frames of a capture that hosts play, each as a UDP datagram of its size: of a recorded frame
/// only its time, its size and its TOS byte are needed.
struct CaptureFrames {
  struct Frame {
    Duration at{};            ///< since the first one; does not fall
    std::uint16_t bytes = 0;  ///< without FCS
    std::uint8_t tos = 0;     ///< DSCP and ECN
  };
  std::vector<Frame> frames;  ///< not empty
  Duration period{};          ///< of passes: the span and one mean gap; zero if all came at once
};

/// Returns the frames of a trace. Every frame must be an IPv4 packet of at most `mtu_bytes`.
/// @return the frames, or faults by "packet N", the first packet being 1
ConfigResult<CaptureFrames> frames_of(const PcapTrace& trace, std::uint32_t mtu_bytes);

/// Does the same for a pcap or pcapng file. Packets that the capture's snap length has cut are
/// played at their full size.
ConfigResult<CaptureFrames> load_capture_frames(const std::string& path, std::uint32_t mtu_bytes);

}  // namespace outrider::tg
