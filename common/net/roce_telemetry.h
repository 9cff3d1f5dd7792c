#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "common/core/clock.h"
#include "common/net/hop_trace.h"
#include "common/net/roce.h"

namespace outrider::roce {

/// In-band telemetry (INT) in packets of RoCEv2, as HPCC's controller reads it: each switch on the
/// way of a data packet writes into it what the packet met at the port by which it left, and the
/// acknowledgment takes that back. The section stands behind all other headers:
///
///     offset  bytes
///          0      1  magic, 0x1B
///          1      1  hops: number of switches that had something to write; more than 5 if some
///                    found no room; stays at 255
///          2      2  path: a number that these switches have made of theirs
///          4      8  each of 5 records: when the packet left [ns] (3 bytes), how long the port had
///                    been sending packets of its queue until then [ns] (3), how long the port
///                    takes to send what it left behind there [16 ns] (2); times wrap, the last
///                    one does not
///
/// Such a packet has the opcode of its kind with the highest bits 110. InfiniBand leaves these
/// opcodes to manufacturers (section 9.2.1), so that no packet of its services can be mistaken for
/// it, and a receiver that does not know them refuses the packet.
///
/// The ICRC of a data packet is that of the packet as it left its sender: its receiver takes all
/// behind the magic for zeros, because switches have written there. That of an acknowledgment
/// covers the section.
///
/// Source: Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019, section 4.1.
/// Deviations: the paper's record has the port's rate as one of 16, the time, bytes sent, and bytes
/// in the queue. Here the switch divides bytes by its rate, which may be any. The section has 44
/// bytes instead of 42, because payload is counted by four.
inline constexpr std::uint8_t kTelemetryOpcode = 0xC0;
inline constexpr std::uint32_t kTelemetryBytes = 44;
inline constexpr std::size_t kTelemetryHops = 5;
/// The times of a record, but that of the queue, are modulo this.
inline constexpr Duration kTelemetryWrap{1 << 24};
inline constexpr Duration kQueueUnit{16};

using TelemetrySection = std::array<std::uint8_t, kTelemetryBytes>;

/// Returns the section of a packet that no switch has seen.
[[nodiscard]] TelemetrySection empty_telemetry() noexcept;

/// The record of one switch.
struct HopTimes {
  Duration at{};     ///< modulo kTelemetryWrap
  Duration busy{};   ///< modulo kTelemetryWrap
  Duration queue{};  ///< rounded down to kQueueUnit, at most 65,535 of them

  bool operator==(const HopTimes&) const = default;
};

struct Telemetry {
  std::uint8_t hops = 0;          ///< that had something to write
  std::uint8_t records_kept = 0;  ///< min(hops, kTelemetryHops)
  std::uint16_t path = 0;
  std::array<HopTimes, kTelemetryHops> records{};
};

/// Reads a section of any bytes.
[[nodiscard]] Telemetry read_telemetry(const TelemetrySection& section) noexcept;

/// Returns how much later `a` is than `b`; half of kTelemetryWrap or more: it is earlier.
[[nodiscard]] constexpr Duration telemetry_between(Duration b, Duration a) noexcept {
  return Duration{(a - b).count() & (kTelemetryWrap.count() - 1)};
}

/// Puts a section behind the headers of a data packet or acknowledgment.
/// @param head what encode() has written, with room for the section
/// @return the length of all headers
std::uint32_t add_telemetry(std::span<std::uint8_t> head, std::uint32_t header_bytes,
                            const TelemetrySection& section) noexcept;

/// Reads a packet that has a section, as decode() does others. @param message,section untouched if
/// there is a fault
[[nodiscard]] std::optional<Fault> decode_with_telemetry(std::span<const std::uint8_t> present,
                                                         std::uint32_t datagram_bytes,
                                                         Message& message,
                                                         TelemetrySection& section) noexcept;

/// Returns the ICRC of a packet with a section, as it left its sender. Other parameters are those
/// of icrc(). @pre the section is in `ip`
[[nodiscard]] std::uint32_t icrc_with_telemetry(std::span<const std::uint8_t> ip,
                                                std::uint32_t ip_bytes, Opcode opcode) noexcept;

/// Writes a record behind those of earlier hops into a data packet that has a section.
/// @param frame any bytes. @param ip_offset of the IP header in it; 0: there is none
/// @param hop number of the switch's port, for the path. @param times of any size, >= 0
hop_trace::Appended append_telemetry(std::span<std::uint8_t> frame, std::size_t ip_offset,
                                     std::uint16_t hop, const HopTimes& times) noexcept;

}  // namespace outrider::roce
