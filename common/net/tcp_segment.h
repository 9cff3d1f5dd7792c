#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "common/core/burst_identity.h"
#include "common/core/ecn.h"
#include "common/net/header_writer.h"
#include "common/net/headers.h"

namespace outrider {

struct SackBlock {
  std::uint32_t begin;  ///< first sequence number of the block
  std::uint32_t end;    ///< one past the last
};

/// Room for blocks. Its own constructor lets the compiler clear it in one store: as a plain
/// array it made the compiler clear a whole TcpSegment by "rep stos", which is slow.
struct SackBlocks : std::array<SackBlock, 4> {
  SackBlocks() noexcept : array{} {}
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
  SackBlocks sack{};
  bool has_timestamps = false;
  std::uint32_t ts_value = 0;  ///< TSval of RFC 7323, section 3.2
  std::uint32_t ts_echo = 0;   ///< TSecr
  bool has_identity = false;
  BurstIdentity identity{};

  [[nodiscard]] bool has(TcpFlag f) const noexcept { return (flags & f) != 0; }
  /// Returns whether it has any option. Plain segments, which most are, have none.
  [[nodiscard]] bool has_options() const noexcept {
    return (mss | sack_blocks | sack_permitted | has_timestamps | has_identity) != 0 ||
           window_scale >= 0;
  }
};

/// Returns the bytes of the TCP header that encode_tcp() will write, a multiple of 4.
/// @pre the options fit in 40 bytes: at most 4 SACK blocks alone, 3 with either of
///      identity and timestamps, 1 with both
std::uint32_t tcp_header_bytes(const TcpSegment& s) noexcept;

struct EncodedTcp {
  std::uint32_t bytes = 0;
  std::uint64_t sum = 0;  ///< sum of the header for the checksum, neither folded nor inverted
};

namespace detail {
/// Writes the header without its options. @param bytes length of the header with them
inline void write_fixed_header(HeaderWriter& header, const TcpSegment& s, std::uint16_t source_port,
                               std::uint16_t destination_port, std::uint32_t bytes) noexcept {
  header.put(word_of(source_port, destination_port));
  header.put(be32(s.sequence));
  header.put(be32(s.acknowledgment));
  header.put(word_of(static_cast<std::uint16_t>(bytes / 4 << 12 | s.flags), s.window));
  header.put(0);  // checksum and urgent pointer
}
EncodedTcp encode_tcp_with_options(const TcpSegment& s, std::uint16_t source_port,
                                   std::uint16_t destination_port,
                                   std::span<std::uint8_t> out) noexcept;
/// @return false if a length is impossible
[[nodiscard]] bool read_options(std::span<const std::uint8_t> options, TcpSegment& s) noexcept;
}  // namespace detail

/// Writes header and options; the checksum field stays zero.
/// @param out [>= tcp_header_bytes(s)]
inline EncodedTcp encode_tcp(const TcpSegment& s, std::uint16_t source_port,
                             std::uint16_t destination_port, std::span<std::uint8_t> out) noexcept {
  if (s.has_options())
    return detail::encode_tcp_with_options(s, source_port, destination_port, out);
  HeaderWriter header(out.data());
  detail::write_fixed_header(header, s, source_port, destination_port, sizeof(TcpHeader));
  return {sizeof(TcpHeader), header.sum()};
}

/// Reads a header with its options. Unknown options are skipped. It reads in place: a copy would
/// read the fields, written one by one, in wider words, see HeaderWriter.
/// @param bytes starts at the TCP header; payload bytes need not be present
/// @param tcp_bytes TCP header and payload by the IP header's length field
/// @param s newly initialised; the caller, which has the IP header, sets `ecn`
/// @return false if truncated, or if an offset or an option length is impossible: then `s`
///         is not usable
[[nodiscard]] inline bool decode_tcp(std::span<const std::uint8_t> bytes, std::uint32_t tcp_bytes,
                                     TcpSegment& s) noexcept {
  if (bytes.size() < sizeof(TcpHeader)) return false;
  const auto& header = *reinterpret_cast<const TcpHeader*>(bytes.data());
  const std::uint32_t header_bytes = header.header_bytes();
  if (header_bytes < sizeof header || header_bytes > bytes.size() || header_bytes > tcp_bytes ||
      tcp_bytes - header_bytes > UINT16_MAX) {
    return false;
  }
  s.sequence = header.sequence.get();
  s.acknowledgment = header.acknowledgment.get();
  s.flags = header.flags;
  s.window = header.window.get();
  s.payload_bytes = static_cast<std::uint16_t>(tcp_bytes - header_bytes);
  return header_bytes == sizeof header ||
         detail::read_options(bytes.subspan(sizeof header, header_bytes - sizeof header), s);
}

}  // namespace outrider
