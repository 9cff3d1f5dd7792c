#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "common/core/clock.h"

namespace outrider {

/// Packets of RoCEv2 over IPv4: what follows the UDP header. One packet per datagram, integers in
/// network byte order:
///
///     BTH, 12 bytes, in every packet
///          0      1  opcode
///          1      1  solicited event (1 bit), migration (1), pad count (2), version (4)
///          2      2  partition key
///          4      1  FECN (1), BECN (1), reserved (6)
///          5      3  destination queue pair
///          8      1  acknowledgment request (1), reserved (7)
///          9      3  packet sequence number (PSN)
///     RETH, 16 bytes, in the first packet of a WRITE: address (8), key (4), length (4)
///     ImmDt, 4 bytes, in the last packet of a WRITE or SEND with immediate
///     AETH, 4 bytes, in an acknowledgment: syndrome (1), message sequence number (3)
///     CNP: 16 reserved bytes
///     payload, with a pad of up to 3 bytes, and the ICRC, 4 bytes
///
/// Sources: InfiniBand Architecture Specification, volume 1, release 1.2.1, chapter 9 and annex
/// A17 (RoCEv2). A selective NAK is not in them: see kNakSelectiveSyndrome. Packets with telemetry
/// have opcodes of their own: see roce_telemetry.h.
namespace roce {

inline constexpr std::uint16_t kPort = 4791;  ///< UDP destination port
inline constexpr std::uint32_t kBthBytes = 12;
inline constexpr std::uint32_t kIcrcBytes = 4;
/// Length of the longest header, that of a WRITE in one packet with immediate.
inline constexpr std::uint32_t kMaxHeaderBytes = 32;
inline constexpr std::uint32_t kPsnBits = 24;
inline constexpr std::uint32_t kPsnMask = (1U << kPsnBits) - 1;
/// Longest WRITE or SEND.
inline constexpr std::uint32_t kMaxMessageBytes = 1U << 31;
inline constexpr std::uint16_t kDefaultPartition = 0xFFFF;

/// Opcodes of the reliable connection that this program has, and that of a CNP.
enum class Opcode : std::uint8_t {
  kSendFirst = 0x00,
  kSendMiddle = 0x01,
  kSendLast = 0x02,
  kSendLastImmediate = 0x03,
  kSendOnly = 0x04,
  kSendOnlyImmediate = 0x05,
  kWriteFirst = 0x06,
  kWriteMiddle = 0x07,
  kWriteLast = 0x08,
  kWriteLastImmediate = 0x09,
  kWriteOnly = 0x0A,
  kWriteOnlyImmediate = 0x0B,
  kAcknowledge = 0x11,
  kCnp = 0x81,
};

inline constexpr std::uint8_t kAckSyndrome = 0x1F;          ///< credits are not used
inline constexpr std::uint8_t kNakSequenceSyndrome = 0x60;  ///< PSN sequence error
/// The NAK of selective repeat, with a code that InfiniBand reserves. The PSN is the first that has
/// not come, as in other NAKs; the AETH has the PSN whose arrival caused the NAK where others have
/// the message sequence number.
inline constexpr std::uint8_t kNakSelectiveSyndrome = 0x65;

// NAKs that end a connection: no packet that is sent again would fare better.
inline constexpr std::uint8_t kNakInvalidRequestSyndrome = 0x61;
inline constexpr std::uint8_t kNakRemoteAccessSyndrome = 0x62;
inline constexpr std::uint8_t kNakRemoteOperationSyndrome = 0x63;

[[nodiscard]] constexpr bool is_ack(std::uint8_t syndrome) noexcept {
  return (syndrome & 0xE0) == 0;
}
/// Returns true for an RNR NAK: the receiver has no buffer yet, and says how long to wait.
[[nodiscard]] constexpr bool is_not_ready(std::uint8_t syndrome) noexcept {
  return (syndrome & 0xE0) == 0x20;
}
/// Returns the least wait of an RNR NAK, from its timer field (table 45 of the specification).
[[nodiscard]] constexpr Duration not_ready_wait(std::uint8_t syndrome) noexcept {
  constexpr std::array<std::int64_t, 32> kTens_us{
      65'536, 1,     2,     3,     4,     6,      8,      12,     16,     24,    32,
      48,     64,    96,    128,   192,   256,    384,    512,    768,    1'024, 1'536,
      2'048,  3'072, 4'096, 6'144, 8'192, 12'288, 16'384, 24'576, 32'768, 49'152};
  return std::chrono::microseconds(10 * kTens_us[syndrome & 0x1F]);
}

/// The place of a packet in its message. The numbers of a SEND and of a WRITE are these in the same
/// order, from kSendFirst and from kWriteFirst on.
enum class Part : std::uint8_t {
  kFirst,
  kMiddle,
  kLast,
  kLastImmediate,
  kOnly,
  kOnlyImmediate,
};
enum class Operation : std::uint8_t { kWrite, kSend };

[[nodiscard]] constexpr Opcode opcode_of(Operation operation, Part part) noexcept {
  const Opcode first = operation == Operation::kSend ? Opcode::kSendFirst : Opcode::kWriteFirst;
  return static_cast<Opcode>(static_cast<std::uint8_t>(first) + static_cast<std::uint8_t>(part));
}
[[nodiscard]] constexpr bool is_send(Opcode o) noexcept { return o <= Opcode::kSendOnlyImmediate; }
[[nodiscard]] constexpr bool is_write(Opcode o) noexcept {
  return o >= Opcode::kWriteFirst && o <= Opcode::kWriteOnlyImmediate;
}
/// Returns true for packets with payload: those of WRITEs and SENDs.
[[nodiscard]] constexpr bool is_data(Opcode o) noexcept { return is_send(o) || is_write(o); }
/// @pre is_data(o)
[[nodiscard]] constexpr Part part_of(Opcode o) noexcept {
  const Opcode first = is_send(o) ? Opcode::kSendFirst : Opcode::kWriteFirst;
  return static_cast<Part>(static_cast<std::uint8_t>(o) - static_cast<std::uint8_t>(first));
}
[[nodiscard]] constexpr bool starts_message(Opcode o) noexcept {
  if (!is_data(o)) return false;
  return part_of(o) == Part::kFirst || part_of(o) >= Part::kOnly;
}
[[nodiscard]] constexpr bool ends_message(Opcode o) noexcept {
  return is_data(o) && part_of(o) >= Part::kLast;
}
[[nodiscard]] constexpr bool has_immediate(Opcode o) noexcept {
  return is_data(o) && (part_of(o) == Part::kLastImmediate || part_of(o) == Part::kOnlyImmediate);
}
/// Returns true for the first packet of a WRITE: a SEND names no memory.
[[nodiscard]] constexpr bool has_reth(Opcode o) noexcept {
  return is_write(o) && starts_message(o);
}

/// Returns the place of a packet in its flow as a START names it and a switch compares it: serial
/// numbers of 32 bits, in bytes if packets carry 1,024 of them, as they do where the MTU is 1,500.
[[nodiscard]] constexpr std::uint32_t sequence_of(std::uint32_t psn) noexcept { return psn << 10; }

/// A packet of any kind. Fields that its opcode does not have are zero.
struct Message {
  Opcode opcode = Opcode::kCnp;
  bool becn = false;
  bool fecn = false;
  bool asks = false;                 ///< acknowledgment request
  std::uint32_t destination_qp = 0;  ///< 24 bits
  std::uint32_t psn = 0;             ///< 24 bits
  std::uint64_t address = 0;         ///< RETH
  std::uint32_t key = 0;             ///< RETH
  std::uint32_t length_bytes = 0;    ///< RETH: of the whole message
  std::uint32_t immediate = 0;       ///< ImmDt
  std::uint8_t syndrome = 0;         ///< AETH
  std::uint32_t message_number = 0;  ///< AETH, 24 bits
  std::uint16_t payload_bytes = 0;   ///< of a WRITE or SEND, without pad

  bool operator==(const Message&) const = default;
};

/// Why a datagram is no packet that this program has. If several apply, the first in this order is
/// reported.
enum class Fault : std::uint8_t {
  kBadLength,  ///< shorter than its headers and ICRC, or longer than its opcode allows
  kBadOpcode,
  kBadVersion,  ///< of the transport header
  kBadPad,      ///< a pad where there is no payload
};

/// Returns the pad that follows a payload of that length [bytes].
[[nodiscard]] constexpr std::uint32_t pad_of(std::uint32_t payload_bytes) noexcept {
  return -payload_bytes & 3;
}

/// Returns the length of the headers from BTH on; 0 for an opcode that this program does not have.
[[nodiscard]] std::uint32_t header_bytes(std::uint8_t opcode) noexcept;

/// Writes the headers. @pre numbers fit into the bits stated above
/// @return bytes written; payload, pad and ICRC, which follow them, are not included
std::uint32_t encode(const Message& message, std::span<std::uint8_t, kMaxHeaderBytes> out) noexcept;

/// Reads the headers from any bytes. The payload and the ICRC are not read, so the buffer need not
/// hold them. @param present the part of the UDP payload that the buffer holds
/// @param datagram_bytes of the UDP payload on the wire, ICRC included, >= present.size()
/// @param message untouched if there is a fault
[[nodiscard]] std::optional<Fault> decode(std::span<const std::uint8_t> present,
                                          std::uint32_t datagram_bytes, Message& message) noexcept;

/// Returns the ICRC of an IPv4 packet, whose bytes on the wire are the value's from the lowest on.
/// All bytes count as they are. Zeros at the end are quick: those that are present are compared by
/// words, those that are not cost a few multiplications. Other bytes cost a load of a table each.
/// @param ip [size >= 40] the IPv4 header without options and what follows it;
/// bytes behind ip_bytes are ignored
/// @param ip_bytes from the IPv4 header to the ICRC, which is not included; what is not in `ip` is
/// zeros
[[nodiscard]] std::uint32_t icrc(std::span<const std::uint8_t> ip, std::uint32_t ip_bytes) noexcept;

/// The same, but the bytes of [begin, end) count as zeros.
/// @pre they are in `ip`, behind the BTH
[[nodiscard]] std::uint32_t icrc_without(std::span<const std::uint8_t> ip, std::uint32_t ip_bytes,
                                         std::size_t begin, std::size_t end) noexcept;

}  // namespace roce
}  // namespace outrider
