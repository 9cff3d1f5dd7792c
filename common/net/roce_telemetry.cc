#include "common/net/roce_telemetry.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "common/net/headers.h"
#include "common/net/udp_offset.h"

namespace outrider::roce {
namespace {

constexpr std::uint8_t kMagic = 0x1B;
constexpr std::uint8_t kKindMask = 0x1F;  ///< of an opcode: the rest is the transport
constexpr std::size_t kHopsAt = 1, kPathAt = 2, kRecordsAt = 4, kRecordBytes = 8;
constexpr std::size_t kMostHops = 255;
static_assert(kRecordsAt + kTelemetryHops * kRecordBytes == kTelemetryBytes);
static_assert(kTelemetryBytes % 4 == 0);

std::uint32_t get24(const std::uint8_t* from) noexcept {
  return std::uint32_t{from[0]} << 16 | std::uint32_t{from[1]} << 8 | from[2];
}
void put24(std::uint8_t* to, std::uint64_t value) noexcept {
  for (int i = 0; i < 3; ++i) to[i] = static_cast<std::uint8_t>(value >> (16 - 8 * i));
}
std::uint16_t get16(const std::uint8_t* from) noexcept {
  return static_cast<std::uint16_t>(from[0] << 8 | from[1]);
}
void put16(std::uint8_t* to, std::uint32_t value) noexcept {
  to[0] = static_cast<std::uint8_t>(value >> 8);
  to[1] = static_cast<std::uint8_t>(value);
}

/// Returns the opcode without telemetry; nothing if it is no opcode of a packet with it.
std::optional<Opcode> kind_of(std::uint8_t opcode) noexcept {
  if ((opcode & ~kKindMask) != kTelemetryOpcode) return std::nullopt;
  const auto kind = static_cast<Opcode>(opcode & kKindMask);
  if (!is_data(kind) && kind != Opcode::kAcknowledge) return std::nullopt;
  return kind;
}

/// Returns where the section of a data packet begins; nothing if the frame is no such packet.
std::optional<std::size_t> section_in(std::span<const std::uint8_t> frame,
                                      std::size_t ip_offset) noexcept {
  const auto udp_at = udp_offset(frame, ip_offset);
  if (!udp_at) return std::nullopt;
  const std::size_t bth_at = *udp_at + sizeof(UdpHeader);
  if (frame.size() <= bth_at) return std::nullopt;
  const auto& udp = *reinterpret_cast<const UdpHeader*>(frame.data() + *udp_at);
  // RoCEv2 has no UDP checksum, so none has to be changed.
  if (udp.destination_port.get() != kPort || udp.checksum.get() != 0) return std::nullopt;
  const std::optional<Opcode> kind = kind_of(frame[bth_at]);
  if (!kind || !is_data(*kind)) return std::nullopt;
  const std::size_t section = bth_at + header_bytes(static_cast<std::uint8_t>(*kind));
  const std::size_t end = section + kTelemetryBytes;
  if (frame.size() < end || *udp_at + udp.length.get() < end + kIcrcBytes) return std::nullopt;
  if (frame[section] != kMagic) return std::nullopt;
  return section;
}

}  // namespace

TelemetrySection empty_telemetry() noexcept { return {kMagic}; }

Telemetry read_telemetry(const TelemetrySection& section) noexcept {
  Telemetry t{.hops = section[kHopsAt], .path = get16(&section[kPathAt])};
  t.records_kept = static_cast<std::uint8_t>(std::min<std::size_t>(t.hops, kTelemetryHops));
  for (std::size_t i = 0; i < t.records_kept; ++i) {
    const std::uint8_t* at = &section[kRecordsAt + i * kRecordBytes];
    t.records[i] = {.at = Duration{get24(at)},
                    .busy = Duration{get24(at + 3)},
                    .queue = get16(at + 6) * kQueueUnit};
  }
  return t;
}

std::uint32_t add_telemetry(std::span<std::uint8_t> head, std::uint32_t header_bytes,
                            const TelemetrySection& section) noexcept {
  assert(head.size() >= header_bytes + section.size());
  assert(kind_of(head[0] | kTelemetryOpcode));
  head[0] |= kTelemetryOpcode;
  std::ranges::copy(section, head.begin() + header_bytes);
  return header_bytes + kTelemetryBytes;
}

std::optional<Fault> decode_with_telemetry(std::span<const std::uint8_t> present,
                                           std::uint32_t datagram_bytes, Message& message,
                                           TelemetrySection& section) noexcept {
  if (present.empty()) return Fault::kBadLength;
  const std::optional<Opcode> kind = kind_of(present[0]);
  if (!kind) return Fault::kBadOpcode;
  const std::uint32_t headers = header_bytes(static_cast<std::uint8_t>(*kind));
  if (present.size() < headers + kTelemetryBytes) return Fault::kBadLength;
  if (present[headers] != kMagic) return Fault::kBadOpcode;
  std::array<std::uint8_t, kMaxHeaderBytes> plain;
  std::ranges::copy(present.first(headers), plain.begin());
  plain[0] = static_cast<std::uint8_t>(*kind);
  if (const auto fault = decode(std::span<const std::uint8_t>(plain).first(headers),
                                datagram_bytes - kTelemetryBytes, message))
    return fault;
  std::ranges::copy(present.subspan(headers, kTelemetryBytes), section.begin());
  return std::nullopt;
}

std::uint32_t icrc_with_telemetry(std::span<const std::uint8_t> ip, std::uint32_t ip_bytes,
                                  Opcode opcode) noexcept {
  if (!is_data(opcode)) return icrc(ip, ip_bytes);
  const std::size_t section =
      sizeof(Ipv4Header) + sizeof(UdpHeader) + header_bytes(static_cast<std::uint8_t>(opcode));
  return icrc_without(ip, ip_bytes, section + kHopsAt, section + kTelemetryBytes);
}

hop_trace::Appended append_telemetry(std::span<std::uint8_t> frame, std::size_t ip_offset,
                                     std::uint16_t hop, const HopTimes& times) noexcept {
  const auto section_at = section_in(frame, ip_offset);
  if (!section_at) return hop_trace::Appended::kNotAProbe;
  std::uint8_t* section = frame.data() + *section_at;
  const std::size_t hops = section[kHopsAt];
  const bool fits = hops < kTelemetryHops;
  if (fits) {
    constexpr std::int64_t kMostQueue = 0xFFFF;
    std::uint8_t* record = section + kRecordsAt + hops * kRecordBytes;
    put24(record, static_cast<std::uint64_t>(times.at.count()));
    put24(record + 3, static_cast<std::uint64_t>(times.busy.count()));
    put16(record + 6, static_cast<std::uint32_t>(std::min(times.queue / kQueueUnit, kMostQueue)));
  }
  section[kHopsAt] = static_cast<std::uint8_t>(std::min(hops + 1, kMostHops));
  put16(section + kPathAt, 31U * get16(section + kPathAt) + hop + 1U);
  return fits ? hop_trace::Appended::kYes : hop_trace::Appended::kNoRoom;
}

}  // namespace outrider::roce
