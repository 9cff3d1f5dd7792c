#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace outrider {

/// In-band telemetry: room in a UDP probe into which each switch on its way writes what
/// the probe met there, as in the pre-allocated trace option of RFC 9197 (section 4.4), but
/// in the payload, so that plain IPv4 networks pass it. In network byte order, behind the
/// first 18 bytes of the UDP payload, which are the sender's own:
///
///     offset  bytes
///          0      2  magic, "OH"
///          2      1  room: records that fit behind this header
///          3      1  hops: switches that had something to write; more than room if some
///                    found no room; stays at 255
///          4     16  each: switch (2), port (1), queue (1), sojourn [ns] (4),
///                    packets (4) and frame bytes (4) that it left behind in its queue
///
/// A sojourn of more than 4.29 s is written as the largest that fits. The UDP checksum is
/// kept right, or left out if the sender did.
namespace hop_trace {

inline constexpr std::size_t kPayloadOffset = 18;  ///< within the UDP payload
inline constexpr std::size_t kHeaderBytes = 4;
inline constexpr std::size_t kRecordBytes = 16;
inline constexpr std::size_t kMaxRecords = 4;  ///< that the buffers of virtual runs hold
inline constexpr std::uint16_t kMagic = 0x4F48;

struct Record {
  std::uint16_t switch_id = 0;
  std::uint8_t port = 0;
  std::uint8_t queue = 0;
  std::uint32_t sojourn_ns = 0;
  std::uint32_t left_packets = 0;
  std::uint32_t left_bytes = 0;

  bool operator==(const Record&) const = default;
};

struct Trace {
  std::uint8_t hops = 0;
  std::uint8_t records_kept = 0;  ///< min(hops, room)
  std::array<Record, kMaxRecords> records{};

  [[nodiscard]] bool complete() const noexcept { return records_kept == hops; }
};

enum class Appended : std::uint8_t {
  kNotAProbe,
  kYes,
  kNoRoom,  ///< the hop is counted in the probe all the same
};

/// Writes a record behind those of the hops before.
/// @param frame any bytes. @param ip_offset of the IP header in it; 0: there is none
Appended append(std::span<std::uint8_t> frame, std::size_t ip_offset,
                const Record& record) noexcept;

/// @param payload of a UDP datagram, any bytes. @return nothing if there is no trace, or
/// one with more room than kMaxRecords or the payload have
[[nodiscard]] std::optional<Trace> read(std::span<const std::uint8_t> payload) noexcept;

}  // namespace hop_trace
}  // namespace outrider
