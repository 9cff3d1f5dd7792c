#pragma once

#include <cstdint>
#include <cstring>
#include <optional>

#include "common/net/headers.h"

namespace outrider::tg {

/// The stamp of a stream's packet, in the first 18 bytes of its UDP payload, which is all that a
/// 64-byte frame has. In network byte order:
///
///     magic (2) | stream (10 bits), flow (22 bits) | sequence (4) | ticks (8)
///
/// `sequence` counts within the flow and wraps. `ticks` is the raw time-stamp counter at departure
/// (in virtual time: nanoseconds of the run), which two processes of one machine share.
struct StreamStamp {
  std::uint32_t stream = 0;  ///< < 2^10
  std::uint32_t flow = 0;    ///< < 2^22
  std::uint32_t sequence = 0;
  std::uint64_t ticks = 0;
  bool operator==(const StreamStamp&) const = default;
};

inline constexpr std::uint32_t kStampBytes = 18;
inline constexpr std::uint16_t kStampMagic = 0x4F52;  // "OR"
inline constexpr std::uint32_t kStampFlowBits = 22;

inline constexpr std::uint32_t kStampFlowOffset = 2;  ///< within the stamp
inline constexpr std::uint32_t kStampSequenceOffset = 6;
inline constexpr std::uint32_t kStampTicksOffset = 10;

/// @param in [size >= kStampBytes]. @return nothing if the magic is not there
inline std::optional<StreamStamp> read_stamp(const std::uint8_t* in) noexcept {
  std::uint16_t magic;
  std::uint32_t stream_and_flow;
  std::uint32_t sequence;
  std::uint64_t ticks;
  std::memcpy(&magic, in, sizeof magic);
  if (magic != be16(kStampMagic)) return std::nullopt;
  std::memcpy(&stream_and_flow, in + kStampFlowOffset, sizeof stream_and_flow);
  std::memcpy(&sequence, in + kStampSequenceOffset, sizeof sequence);
  std::memcpy(&ticks, in + kStampTicksOffset, sizeof ticks);
  stream_and_flow = be32(stream_and_flow);
  return StreamStamp{stream_and_flow >> kStampFlowBits,
                     stream_and_flow & ((1U << kStampFlowBits) - 1), be32(sequence),
                     __builtin_bswap64(ticks)};
}

}  // namespace outrider::tg
