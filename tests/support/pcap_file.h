#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "common/core/clock.h"

namespace outrider {

/// A packet of a capture made for a test: an IPv4 frame of zeros but for its first bytes.
struct CapturedPacket {
  Duration at{};
  std::uint32_t bytes = 60;  ///< of the frame
  std::uint8_t tos = 0;
  std::uint16_t ether_type = 0x0800;
  std::uint32_t kept_bytes = 0;  ///< that the snap length left; 0: all
};

/// Writes a pcap file with stamps in nanoseconds, little endian (the format of libpcap's
/// pcap-savefile(5)).
inline void write_pcap(const std::string& path, const std::vector<CapturedPacket>& packets) {
  std::ofstream out(path, std::ios::binary);
  const auto word = [&out](std::uint32_t v) {
    for (int shift = 0; shift < 32; shift += 8) out.put(static_cast<char>(v >> shift));
  };
  constexpr std::uint32_t kNanosecondMagic = 0xA1B23C4D, kVersion = 4U << 16 | 2, kEthernet = 1;
  for (const std::uint32_t v : {kNanosecondMagic, kVersion, 0U, 0U, 262144U, kEthernet}) word(v);
  for (const CapturedPacket& p : packets) {
    const auto ns = static_cast<std::uint64_t>(p.at.count());
    std::string frame(p.bytes, '\0');
    frame[12] = static_cast<char>(p.ether_type >> 8);
    frame[13] = static_cast<char>(p.ether_type & 0xFF);
    frame[14] = 0x45;
    frame[15] = static_cast<char>(p.tos);
    if (p.kept_bytes != 0) frame.resize(p.kept_bytes);
    word(static_cast<std::uint32_t>(1'700'000'000 + ns / 1'000'000'000));
    word(static_cast<std::uint32_t>(ns % 1'000'000'000));
    word(static_cast<std::uint32_t>(frame.size()));
    word(p.bytes);
    out << frame;
  }
}

}  // namespace outrider
