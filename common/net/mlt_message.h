#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "common/core/burst_identity.h"

namespace outrider {

/// Messages of the bounded-loss transport (trafficgen/mlt) over UDP. One message per datagram,
/// integers in network byte order:
///
///     offset  bytes
///          0      4  magic, "ORML"
///          4      1  version, 1
///          5      1  kind: 1 DATA, 2 PROBE, 3 FEEDBACK, 4 STOP, 5 BITMAP
///          6      1  flags: 1 asks (DATA, PROBE), 2 stopped (FEEDBACK)
///          7      1  reserved, 0
///          8      2  job
///         10      2  worker; the high bit is set for a pull
///         12      4  iteration
///         26      2  reserved, 0
///         28      4  bytes of values transmitted on this flow so far, including these,
///                    modulo 2^32
///         32      4  place of the values in the flow's stream, modulo 2^32: bursts in their
///                    order, and in each burst its tensors in their order
///         36      4  time of sending on the sender's clock [ns], modulo 2^32
///                    PROBE, 32 bytes
///         20      4  number of the probe, not 0
///         24      4  bytes transmitted, as in DATA
///         28      4  time of sending
///                    FEEDBACK, 36 bytes, about all DATA that has arrived on the flow
///         20      4  the highest "bytes transmitted" that was seen
///         24      4  bytes of values that have arrived, including copies, modulo 2^32
///         28      4  of these, in packets with CE, modulo 2^32
///         32      4  time of sending of the DATA or PROBE that this answers
///                    STOP, 24 bytes
///         20      4  number of the probe that it answers; 0: none
///                    BITMAP, 52 bytes: which packets of the tensor have arrived
///         20      4  number of the probe that it answers, not 0
///         24      4  the first packet that it is about
///         28     24  a bit for each packet, the low bit of each byte first
///
/// Both ends know the tensors and the length of a full packet. All packets of a tensor are
/// full except the last. A packet holds whole values and its place in the tensor, so a
/// receiver can store it in whatever order packets arrive.
///
/// Source: the exchange is MLT's (Wang et al., NSDI 2024; also DLCP, arXiv 2008.08445). No
/// source that we know gives its layout, so the layout is ours, and so is FEEDBACK.
namespace mlt {

inline constexpr std::uint32_t kMagic = 0x4F524D4C;
inline constexpr std::uint8_t kVersion = 1;
inline constexpr std::uint32_t kValueBytes = 4;
inline constexpr std::uint32_t kDataHeaderBytes = 40;
inline constexpr std::uint32_t kMaxMessageBytes = 52;  ///< without values
inline constexpr std::uint32_t kBitmapPackets = 192;   ///< number of packets that one BITMAP covers

enum class Kind : std::uint8_t {
  kData = 1,
  kProbe = 2,
  kFeedback = 3,
  kStop = 4,
  kBitmap = 5,
};

/// A message of any kind. Fields that its kind does not have are zero.
struct Message {
  Kind kind = Kind::kData;
  bool asks = false;         ///< kData, kProbe: asks for feedback at once
  bool stopped = false;      ///< kFeedback: the tensor needs no more
  BurstIdentity identity{};  ///< worker < 32768
  std::uint32_t tensor = 0;
  std::uint32_t offset_values = 0;      ///< kData
  std::uint16_t length_bytes = 0;       ///< kData
  std::uint32_t transmitted_bytes = 0;  ///< kData, kProbe
  std::uint32_t sequence = 0;           ///< kData
  std::uint32_t sent_at_ns = 0;         ///< kData, kProbe; kFeedback: that of what it answers
  std::uint32_t seen_bytes = 0;         ///< kFeedback
  std::uint32_t received_bytes = 0;     ///< kFeedback
  std::uint32_t marked_bytes = 0;       ///< kFeedback
  std::uint32_t probe = 0;              ///< kProbe, kStop, kBitmap
  std::uint32_t first_packet = 0;       ///< kBitmap
  std::array<std::uint8_t, kBitmapPackets / 8> bits{};  ///< kBitmap

  bool operator==(const Message&) const = default;
};

/// Why a datagram is no message. If several apply, the first in this order is reported.
enum class Fault : std::uint8_t {
  kBadLength,  ///< shorter than its header, or of another length than its kind has
  kBadMagic,
  kBadVersion,
  kBadKind,
  kReserved,   ///< a flag of another kind, or a reserved byte that is not zero
  kBadValues,  ///< DATA: values are incomplete or do not fill the datagram
  kZeroProbe,  ///< PROBE, BITMAP: number 0
};
inline constexpr std::size_t kFaults = 7;
inline constexpr std::array<std::string_view, kFaults> kFaultNames{
    "bad_length", "bad_magic", "bad_version", "bad_kind", "reserved", "bad_values", "zero_probe"};
static_assert(static_cast<std::size_t>(Fault::kZeroProbe) + 1 == kFaults);

/// Writes a message. @pre the ranges stated above
/// @return bytes written; the values of kData, which follow them, are not included
std::uint32_t encode(const Message& message,
                     std::span<std::uint8_t, kMaxMessageBytes> out) noexcept;

/// Reads a message from any bytes. It does not read the values of DATA, so the buffer need not
/// hold them. @param present the part of the UDP payload that the buffer holds
/// @param payload_bytes of the datagram on the wire, >= present.size()
/// @param message untouched if there is a fault
/// @return the fault; nothing if it is a message
[[nodiscard]] std::optional<Fault> decode(std::span<const std::uint8_t> present,
                                          std::uint32_t payload_bytes, Message& message) noexcept;

}  // namespace mlt
}  // namespace outrider
