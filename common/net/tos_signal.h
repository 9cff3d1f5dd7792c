#pragma once

#include <cstdint>
#include <optional>

namespace outrider {

/// The paper's iteration-start signal in the IPv4 TOS byte. From the high bit:
/// START (1) | ACK (1) | threshold code (4) | ECN (2); threshold = 5 x code.
/// Source: Kang et al., Sensors 2021, section 3.1 and figure 7.
///
/// This form collides with DSCP: any DSCP from 32 up looks like START, and one from 16 to 31
/// like its answer. A signal is therefore a TCP segment that TCP itself never sends, without
/// payload and without flags, and is read only where that is configured.
namespace tos_signal {

inline constexpr std::uint8_t kStartBit = 0x80;
inline constexpr std::uint8_t kAckBit = 0x40;
inline constexpr unsigned kThresholdStep_packets = 5;
inline constexpr unsigned kMaxThreshold_packets = 75;

enum class Kind : std::uint8_t {
  kStart,  ///< worker announces a burst
  kAck,    ///< server answers it
};

struct Signal {
  Kind kind = Kind::kStart;
  std::uint16_t threshold_packets = 0;  ///< h of a START; 0 is invalid
};

/// Returns whether the signal can carry the threshold: a multiple of 5, 5 to 75 packets.
constexpr bool is_encodable(unsigned threshold_packets) noexcept {
  return threshold_packets >= kThresholdStep_packets &&
         threshold_packets <= kMaxThreshold_packets &&
         threshold_packets % kThresholdStep_packets == 0;
}

/// Returns whether a TCP segment can be a signal, whatever its TOS byte is.
/// @param tcp_flags all eight bits of the header's byte
constexpr bool is_carrier(std::uint8_t tcp_flags, std::uint32_t payload_bytes) noexcept {
  return tcp_flags == 0 && payload_bytes == 0;
}

/// @param ecn the low two bits, which are kept. @pre START: is_encodable(threshold_packets)
/// @return the TOS byte. An ACK repeats the code of the START that it answers.
constexpr std::uint8_t encode(const Signal& s, std::uint8_t ecn) noexcept {
  const auto code = static_cast<std::uint8_t>(s.threshold_packets / kThresholdStep_packets);
  const std::uint8_t kind_bits =
      s.kind == Kind::kStart ? kStartBit : static_cast<std::uint8_t>(kAckBit);
  return static_cast<std::uint8_t>(kind_bits | (code << 2) | (ecn & 0x03));
}

/// @pre the packet is_carrier(). @return nothing if neither flag or both are set
constexpr std::optional<Signal> decode(std::uint8_t tos) noexcept {
  const bool start = (tos & kStartBit) != 0;
  const bool ack = (tos & kAckBit) != 0;
  if (start == ack) return std::nullopt;
  const auto code = static_cast<std::uint16_t>((tos >> 2) & 0x0F);
  return Signal{start ? Kind::kStart : Kind::kAck,
                static_cast<std::uint16_t>(code * kThresholdStep_packets)};
}

}  // namespace tos_signal
}  // namespace outrider
