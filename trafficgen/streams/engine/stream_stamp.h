#pragma once

#include <cstdint>
#include <cstring>
#include <optional>

#include "common/net/headers.h"
#include "common/net/mlt_message.h"
#include "common/net/udp_signal.h"

namespace outrider::tg {

/// The stamp of a stream's packet, in the first 18 bytes of its UDP payload, which is all that a
/// 64-byte frame has. In network byte order:
///
///     magic (4), "ORST" | stream (10 bits), flow (22 bits) | sequence (4) | ticks (6)
///
/// `sequence` counts within the flow and wraps. `ticks` are the low 48 bits of the time-stamp
/// counter at departure (in virtual time: of the nanoseconds of the run), which two processes of
/// one machine share. They wrap after 26 hours at 3 GHz, and a latency is computed modulo 2^48.
///
/// Streams share devices with hosts, whose datagrams begin with magics of their own. No host gets
/// a packet with this magic, so it must differ from all of those.
struct StreamStamp {
  std::uint32_t stream = 0;  ///< < 2^10
  std::uint32_t flow = 0;    ///< < 2^22
  std::uint32_t sequence = 0;
  std::uint64_t ticks = 0;  ///< < 2^48
  bool operator==(const StreamStamp&) const = default;
};

inline constexpr std::uint32_t kStampBytes = 18;
inline constexpr std::uint32_t kStampMagic = 0x4F525354;
static_assert(kStampMagic != udp_signal::kMagic && kStampMagic != mlt::kMagic);
inline constexpr std::uint32_t kStampFlowBits = 22;

inline constexpr std::uint32_t kStampFlowOffset = 4;  ///< within the stamp
inline constexpr std::uint32_t kStampSequenceOffset = 8;
inline constexpr std::uint32_t kStampTicksOffset = 12;
inline constexpr std::uint32_t kStampTicksBytes = 6;
static_assert(kStampTicksOffset + kStampTicksBytes == kStampBytes);

/// Returns the ticks as the stamp has them in its bytes; the two bytes in memory behind them are 0.
[[nodiscard]] constexpr std::uint64_t stamp_ticks(std::uint64_t ticks) noexcept {
  return __builtin_bswap64(ticks << 16);
}
/// Returns the ticks between two readings of the counter, of which only the low 48 bits are known.
[[nodiscard]] constexpr std::uint64_t ticks_between(std::uint64_t from, std::uint64_t to) noexcept {
  return (to - from) & ((std::uint64_t{1} << 48) - 1);
}

/// @param in [size >= kStampBytes]. @return nothing if the magic is not there
inline std::optional<StreamStamp> read_stamp(const std::uint8_t* in) noexcept {
  std::uint32_t magic;
  std::uint32_t stream_and_flow;
  std::uint32_t sequence;
  std::uint64_t ticks = 0;
  std::memcpy(&magic, in, sizeof magic);
  if (magic != be32(kStampMagic)) return std::nullopt;
  std::memcpy(&stream_and_flow, in + kStampFlowOffset, sizeof stream_and_flow);
  std::memcpy(&sequence, in + kStampSequenceOffset, sizeof sequence);
  std::memcpy(&ticks, in + kStampTicksOffset, kStampTicksBytes);
  stream_and_flow = be32(stream_and_flow);
  return StreamStamp{stream_and_flow >> kStampFlowBits,
                     stream_and_flow & ((1U << kStampFlowBits) - 1), be32(sequence),
                     __builtin_bswap64(ticks) >> 16};
}

}  // namespace outrider::tg
