#pragma once

#include <cstdint>
#include <string>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"

namespace outrider::tg {

/// The frames of a capture, played from one host to another with the recorded gaps, whatever the
/// network does with them.
struct CaptureConfig {
  std::string name;
  std::string from;          ///< host name
  std::string to;            ///< host name
  std::string file;          ///< path of a pcap or pcapng file
  Duration start{};          ///< when the first frame is due
  std::uint64_t rounds = 1;  ///< passes through the file; 0: until the run ends
  std::uint16_t udp_port = 34000;
};

void describe(Settings& v, CaptureConfig& c);

/// Checks that every frame of the file can be played between hosts with packets of that size. It
/// reads the file.
void check_file(const Checks& at, const CaptureConfig& capture, std::uint32_t mtu_bytes);

}  // namespace outrider::tg
