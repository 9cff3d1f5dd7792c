#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace outrider {

using PcapFrame = std::vector<std::uint8_t>;

inline void put_pcap_word(std::string& out, std::uint32_t v) {
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}

/// A capture file of Ethernet frames, microsecond stamps 0, 1, 2, ...
inline std::string pcap_of(const std::vector<PcapFrame>& frames) {
  std::string out;
  for (const std::uint32_t word : {0xA1B2C3D4U, 0x00040002U, 0U, 0U, 65535U, 1U})
    put_pcap_word(out, word);
  std::uint32_t n = 0;
  for (const auto& frame : frames) {
    const auto bytes = static_cast<std::uint32_t>(frame.size());
    for (const std::uint32_t word : {0U, n++, bytes, bytes}) put_pcap_word(out, word);
    out.append(reinterpret_cast<const char*>(frame.data()), bytes);
  }
  return out;
}

/// The frames of such a file, without their stamps.
inline std::vector<PcapFrame> frames_of(const std::string& capture) {
  std::vector<PcapFrame> frames;
  for (std::size_t at = 24; at + 16 <= capture.size();) {
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, capture.data() + at + 8, sizeof bytes);
    at += 16;
    const auto* begin = reinterpret_cast<const std::uint8_t*>(capture.data()) + at;
    frames.emplace_back(begin, begin + bytes);
    at += bytes;
  }
  return frames;
}

}  // namespace outrider
