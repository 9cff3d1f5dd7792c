#pragma once

#include <cstdint>
#include <vector>

namespace outrider {

using Bytes = std::vector<std::uint8_t>;

// These functions append to a frame under construction, in network order.

inline void put16(Bytes& out, std::uint32_t v) {
  out.push_back(static_cast<std::uint8_t>(v >> 8));
  out.push_back(static_cast<std::uint8_t>(v));
}

inline void put32(Bytes& out, std::uint32_t v) {
  put16(out, v >> 16);
  put16(out, v & 0xFFFF);
}

/// Appends a locally administered MAC address that ends in `low`.
inline void put_mac(Bytes& out, std::uint32_t low) {
  put16(out, 0x0200);
  put32(out, low);
}

}  // namespace outrider
