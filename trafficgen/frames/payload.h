#pragma once

#include <cstdint>
#include <span>

#include "common/dpdk/packet/packet.h"
#include "trafficgen/frames/payload_kind.h"

namespace outrider::tg {

/// # The pattern
///
/// A stream is a sequence of 32-bit words in little-endian order; word w is (w + 1) x 0x9E3779B1
/// modulo 2^32. It repeats after 4 GiB, so a byte's value follows from its sequence number and the
/// initial one. No two words of a period are equal, so a segment that was delivered to a wrong
/// place never matches.

/// Writes the pattern. @param offset of the first byte in the stream, modulo 2^32
void fill_pattern(std::span<std::uint8_t> out, std::uint32_t offset) noexcept;

/// @return the number of bytes that differ from the pattern
std::uint32_t pattern_mismatches(std::span<const std::uint8_t> bytes,
                                 std::uint32_t offset) noexcept;

/// Writes the pattern over the zero payload of a frame of write_frame() and corrects its TCP
/// checksum.
/// @pre the frame was written with `full_payload`
void write_pattern(Packet& packet, std::uint32_t offset) noexcept;

/// Returns the TCP payload of a frame that read_frame() has accepted.
std::span<const std::uint8_t> payload_of(Packet& packet, std::uint32_t payload_bytes) noexcept;

}  // namespace outrider::tg
