#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace outrider {

/// In-band telemetry: each switch on the way of a UDP probe writes into it what the probe
/// found there, as in the pre-allocated trace option of RFC 9197 (section 4.4). Here the room
/// is in the payload, so that plain IPv4 networks pass it. It follows the first 18 bytes of
/// the UDP payload, which belong to the sender. In network byte order:
///
///     offset  bytes
///          0      2  magic, "OH"
///          2      1  room: number of records that fit behind this header
///          3      1  hops: number of switches that had something to write; more than
///                    `room` if some found no room; stays at 255
///          4     16  each record: switch (2), port (1), queue (1), sojourn [ns] (4),
///                    packets (4) and frame bytes (4) that it left behind in its queue
///
/// A sojourn of more than 4.29 s is written as the largest value. The UDP checksum is
/// updated, or stays absent if the sender left it out.
namespace hop_trace {

inline constexpr std::size_t kPayloadOffset = 18;  ///< within the UDP payload
inline constexpr std::size_t kHeaderBytes = 4;
inline constexpr std::size_t kRecordBytes = 16;
inline constexpr std::size_t kMaxRecords = 4;  ///< that buffers of virtual runs have room for
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
  kNoRoom,  ///< no record, but the probe counts the hop
};

/// Writes a record behind those of earlier hops.
/// @param frame any bytes. @param ip_offset of the IP header in it; 0: there is none
Appended append(std::span<std::uint8_t> frame, std::size_t ip_offset,
                const Record& record) noexcept;

/// Reads the trace of a probe. @param payload of a UDP datagram, any bytes
/// @return nothing if there is no trace, or one with more room than kMaxRecords or the payload
[[nodiscard]] std::optional<Trace> read(std::span<const std::uint8_t> payload) noexcept;

}  // namespace hop_trace
}  // namespace outrider
