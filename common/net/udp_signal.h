#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "common/core/burst_identity.h"
#include "common/core/clock.h"

namespace outrider {

/// The iteration-start signal as a UDP message. In addition to what the TOS byte says, it
/// tells which burst it announces, how many bytes that has and when it is due. One message
/// per datagram, integers in network byte order:
///
///     offset  bytes
///          0      4  magic, "ORSG"
///          4      1  version: 1 is unsigned, 2 is signed
///          5      1  kind: 1 START, 2 ACK
///          6      2  requested threshold h [packets], not 0
///          8      2  job
///         10      2  worker; the high bit is set for a pull
///         12      4  iteration
///         16      8  bytes of the burst on this connection; 0: not known
///         24      8  time from sending this until the burst is due [ns]; signed: the first
///                    of these bytes is the key's id, and the other seven the time
///         32      2  TCP source port of the announced flow, not 0
///         34      2  its destination port, not 0
///         36      4  sequence number from which payload belongs to the burst
///         40      8  counter of the sender; signed: its clock at sending [ns since 1970], and
///                    greater than in any message that it sent before. In an unsigned ACK with
///                    the highest bit set: the lead that a switch tells, in the other 63 [ns]
///         48     16  signed: keyed tag, see signal_tag.h; unsigned: all zero
///
/// The flow's addresses are those of the IP header, because a START takes the flow's way. An
/// ACK comes back and repeats the START that it answers, except for the kind. The due time
/// is a span, not an instant, because processes share no clock.
///
/// A switch on the way back may write a lead into an unsigned ACK: how long before a burst the
/// sender had better announce it. It stands where nobody needs what an ACK repeats: readers that
/// know of no lead take any counter there, but refuse an unsigned message whose last 16 bytes are
/// not zero. So that it is told from a counter, an unsigned ACK repeats the lower 63 bits alone.
///
/// An ACK repeats the tag of its START as well. So only who has seen the START can write it, the
/// worker checks the tag with its key, and the answering server needs no key. No switch can change
/// it either, so a signed ACK carries no lead.
namespace udp_signal {

inline constexpr std::size_t kBytes = 64;
inline constexpr std::uint32_t kMagic = 0x4F525347;
inline constexpr std::uint8_t kUnsigned = 1;  ///< version
inline constexpr std::uint8_t kSigned = 2;    ///< version
inline constexpr std::uint16_t kDefaultPort = 5900;

enum class Kind : std::uint8_t { kStart = 1, kAck = 2 };

/// Offset of the tag; all bytes before it are signed.
inline constexpr std::size_t kTagOffset = 48;
using Tag = std::array<std::uint8_t, kBytes - kTagOffset>;

/// The part of a signed message by which a holder of the key can check it.
struct Proof {
  std::uint8_t key_id = 0;
  Tag tag{};
  bool operator==(const Proof&) const = default;
};

/// A signed message has room for 2^56 ns, which are 834 days.
inline constexpr Duration kSignedDueLimit{(std::int64_t{1} << 56) - 1};

struct Signal {
  Kind kind = Kind::kStart;
  std::uint16_t threshold_packets = 0;  ///< > 0
  BurstIdentity identity{};             ///< worker < 32768
  std::uint64_t burst_bytes = 0;        ///< on this connection; 0: not known
  Duration due_in{};                    ///< from sending, >= 0; signed: <= kSignedDueLimit
  std::uint16_t source_port = 0;        ///< TCP, > 0
  std::uint16_t destination_port = 0;   ///< TCP, > 0
  std::uint32_t sequence = 0;           ///< of the burst's first byte
  std::uint64_t counter = 0;
  std::optional<Proof> proof{};  ///< absent: unsigned
  /// Unsigned ACK: what a switch tells its receiver, >= 0. It replaces the counter.
  std::optional<Duration> told_lead{};

  bool operator==(const Signal&) const = default;
};

/// Why a datagram is no signal. If several apply, the first in this order is reported.
enum class Fault : std::uint8_t {
  kBadLength,  ///< not kBytes long
  kBadMagic,
  kBadVersion,
  kBadKind,
  kZeroTarget,  ///< threshold 0
  kZeroPort,    ///< of the announced flow
  kDueTooFar,   ///< beyond the reader's limit
  kReserved,    ///< a tag in an unsigned message
};
inline constexpr std::size_t kFaults = 8;
inline constexpr std::array<std::string_view, kFaults> kFaultNames{
    "bad_length",  "bad_magic", "bad_version", "bad_kind",
    "zero_target", "zero_port", "due_too_far", "reserved"};
static_assert(static_cast<std::size_t>(Fault::kReserved) + 1 == kFaults);
constexpr const auto& names_of(Fault) noexcept { return kFaultNames; }

/// Writes a signal. @pre the ranges stated at the fields
void encode(const Signal& signal, std::span<std::uint8_t, kBytes> out) noexcept;

/// Reads a signal from any bytes. @param payload of one UDP datagram
/// @param due_limit the furthest ahead that a burst may be due, >= 0
/// @param signal untouched if there is a fault
/// @return the fault; nothing if it is a signal
[[nodiscard]] std::optional<Fault> decode(std::span<const std::uint8_t> payload, Duration due_limit,
                                          Signal& signal) noexcept;

}  // namespace udp_signal
}  // namespace outrider
