#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "common/core/pause_time.h"
#include "common/net/headers.h"

namespace outrider {

/// A pause frame of priority flow control (PFC): what a receiver asks of the transmitter at the
/// other end of the link, for each priority. It never passes a bridge.
/// Source: IEEE 802.3, annex 31D, for IEEE 802.1Qbb (now 802.1Q, clause 36).
struct PauseFrame {
  /// Bit p: quanta[p] is meant for priority p. Others are not changed.
  std::uint8_t enabled = 0;
  /// For how long priority p pauses from now on, in times of 512 bits; 0: it may go on.
  std::array<std::uint16_t, kPausePriorities> quanta{};

  [[nodiscard]] constexpr bool concerns(std::size_t priority) const noexcept {
    return (enabled >> priority & 1) != 0;
  }
  constexpr void set(std::size_t priority, std::uint16_t to) noexcept {
    enabled = static_cast<std::uint8_t>(enabled | 1U << priority);
    quanta[priority] = to;
  }
  bool operator==(const PauseFrame&) const = default;
};

inline constexpr std::uint16_t kEtherTypeMacControl = 0x8808;
inline constexpr std::uint16_t kPfcOpcode = 0x0101;
/// The group address of pause frames, to which also those of PFC go.
inline constexpr MacAddress kPauseMac{0x01, 0x80, 0xC2, 0x00, 0x00, 0x01};
/// Size of a MAC control frame with its padding, without the FCS (IEEE 802.3, 31.4).
inline constexpr std::uint32_t kPauseFrameBytes = 60;

namespace detail {
struct PauseHeaders {
  EthernetHeader ethernet;
  Be16 opcode;
  Be16 enabled;  ///< the high byte is reserved: sent as 0, ignored on receipt
  std::array<Be16, kPausePriorities> quanta;
};
static_assert(sizeof(PauseHeaders) == 34 && alignof(PauseHeaders) == 1);
}  // namespace detail

/// Writes a frame of kPauseFrameBytes. @pre out has so many
inline void encode(const PauseFrame& frame, const MacAddress& source,
                   std::span<std::uint8_t> out) noexcept {
  assert(out.size() >= kPauseFrameBytes);
  detail::PauseHeaders headers{};
  headers.ethernet.destination = kPauseMac;
  headers.ethernet.source = source;
  headers.ethernet.ether_type.set(kEtherTypeMacControl);
  headers.opcode.set(kPfcOpcode);
  headers.enabled.set(frame.enabled);
  for (std::size_t p = 0; p < kPausePriorities; ++p) headers.quanta[p].set(frame.quanta[p]);
  std::memset(out.data(), 0, kPauseFrameBytes);
  std::memcpy(out.data(), &headers, sizeof headers);
}

/// @param bytes  a frame from its Ethernet header on, without FCS
/// @return nothing if it is no pause frame of PFC, or a truncated one. One without a tag: MAC
/// control frames have none
[[nodiscard]] inline std::optional<PauseFrame> decode_pause_frame(
    std::span<const std::uint8_t> bytes) noexcept {
  detail::PauseHeaders headers;
  if (bytes.size() < sizeof headers) return std::nullopt;
  std::memcpy(&headers, bytes.data(), sizeof headers);
  if (headers.ethernet.ether_type.get() != kEtherTypeMacControl ||
      headers.opcode.get() != kPfcOpcode || headers.ethernet.destination != kPauseMac)
    return std::nullopt;
  PauseFrame frame{.enabled = static_cast<std::uint8_t>(headers.enabled.get() & 0xFF)};
  for (std::size_t p = 0; p < kPausePriorities; ++p) frame.quanta[p] = headers.quanta[p].get();
  return frame;
}

}  // namespace outrider
