#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "common/core/burst_identity.h"
#include "common/core/ecn.h"
#include "common/net/headers.h"

namespace outrider {

struct SackBlock {
  std::uint32_t begin = 0;  ///< first sequence number of the block
  std::uint32_t end = 0;    ///< one past the last
};

/// One TCP segment as the two ends exchange it: host byte order, options decoded, no payload
/// bytes (every emulated host sends zeros as payload).
struct TcpSegment {
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgment = 0;
  std::uint8_t flags = 0;    ///< bits of TcpFlag
  std::uint16_t window = 0;  ///< as on the wire, before scaling
  std::uint16_t payload_bytes = 0;
  Ecn ecn = Ecn::kNotEct;  ///< of the IP header

  std::uint16_t mss = 0;          ///< 0: option absent
  std::int8_t window_scale = -1;  ///< -1: option absent
  bool sack_permitted = false;
  std::uint8_t sack_blocks = 0;  ///< used entries of `sack`
  std::array<SackBlock, 4> sack{};
  bool has_timestamps = false;
  std::uint32_t ts_value = 0;  ///< TSval of RFC 7323, section 3.2
  std::uint32_t ts_echo = 0;   ///< TSecr
  bool has_identity = false;
  BurstIdentity identity{};

  [[nodiscard]] bool has(TcpFlag f) const noexcept { return (flags & f) != 0; }
};

/// Returns the bytes of the TCP header that encode_tcp() will write, a multiple of 4.
/// @pre the options fit in 40 bytes: at most 4 SACK blocks alone, 3 with either of
///      identity and timestamps, 1 with both
std::uint32_t tcp_header_bytes(const TcpSegment& s) noexcept;

struct EncodedTcp {
  std::uint32_t bytes = 0;
  std::uint64_t sum = 0;  ///< sum of the header for the checksum, neither folded nor inverted
};
/// Writes header and options; the checksum field stays zero.
/// @param out [>= tcp_header_bytes(s)]
EncodedTcp encode_tcp(const TcpSegment& s, std::uint16_t source_port,
                      std::uint16_t destination_port, std::span<std::uint8_t> out) noexcept;

/// Reads a header with its options. Unknown options are skipped.
/// @param bytes starts at the TCP header; payload bytes need not be present
/// @param tcp_bytes TCP header and payload by the IP header's length field
/// @param s newly initialised; the caller, which has the IP header, sets `ecn`
/// @return false if truncated, or if an offset or an option length is impossible: then `s`
///         is not usable
[[nodiscard]] bool decode_tcp(std::span<const std::uint8_t> bytes, std::uint32_t tcp_bytes,
                              TcpSegment& s) noexcept;

}  // namespace outrider
