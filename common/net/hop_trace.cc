#include "common/net/hop_trace.h"

#include <algorithm>
#include <cstring>

#include "common/net/checksum.h"
#include "common/net/headers.h"
#include "common/net/udp_offset.h"

namespace outrider::hop_trace {
namespace {

constexpr std::size_t kUdpBytes = 8;
constexpr std::size_t kUdpChecksum = 6;
constexpr std::size_t kHops = 3;
constexpr std::uint8_t kMostHops = 255;

template <class T>
T get(const std::uint8_t* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void put(std::uint8_t* to, T value) noexcept {
  std::memcpy(to, &value, sizeof value);
}

std::array<std::uint8_t, kRecordBytes> bytes_of(const Record& r) noexcept {
  std::array<std::uint8_t, kRecordBytes> out;
  put(&out[0], be16(r.switch_id));
  out[2] = r.port;
  out[3] = r.queue;
  put(&out[4], be32(r.sojourn_ns));
  put(&out[8], be32(r.left_packets));
  put(&out[12], be32(r.left_bytes));
  return out;
}

/// Overwrites an even number of bytes at an even offset of data that a checksum covers, word
/// by word as in RFC 1624, equation 3. @return the checksum's complement, not folded
std::uint64_t overwrite(std::uint8_t* at, std::span<const std::uint8_t> with,
                        std::uint64_t sum) noexcept {
  for (std::size_t i = 0; i < with.size(); i += 2) {
    const auto before = get<std::uint16_t>(at + i);
    sum += static_cast<std::uint16_t>(~before) + get<std::uint16_t>(with.data() + i);
  }
  std::memcpy(at, with.data(), with.size());
  return sum;
}

}  // namespace

Appended append(std::span<std::uint8_t> frame, std::size_t ip_offset,
                const Record& record) noexcept {
  const auto udp = udp_offset(frame, ip_offset);
  if (!udp) return Appended::kNotAProbe;
  const std::size_t header = *udp + kUdpBytes + kPayloadOffset;
  if (frame.size() < header + kHeaderBytes) return Appended::kNotAProbe;
  std::uint8_t* trace = frame.data() + header;
  if (get<std::uint16_t>(trace) != be16(kMagic)) return Appended::kNotAProbe;
  const std::uint8_t room = trace[kHops - 1];
  const std::uint8_t hops = trace[kHops];
  const std::size_t end = header + kHeaderBytes + (std::size_t{hops} + 1) * kRecordBytes;
  const bool fits = hops < room && end <= frame.size();

  std::uint8_t* checksum = frame.data() + *udp + kUdpChecksum;
  const auto before = get<std::uint16_t>(checksum);
  const std::array<std::uint8_t, 2> counted{
      room, hops == kMostHops ? hops : static_cast<std::uint8_t>(hops + 1)};
  std::uint64_t sum = overwrite(trace + kHops - 1, counted, static_cast<std::uint16_t>(~before));
  if (fits) sum = overwrite(frame.data() + end - kRecordBytes, bytes_of(record), sum);
  if (before != 0) {  // zero: the sender left it out (RFC 768)
    const auto after = static_cast<std::uint16_t>(~checksum_fold(sum));
    put(checksum, after == 0 ? std::uint16_t{0xFFFF} : after);
  }
  return fits ? Appended::kYes : Appended::kNoRoom;
}

std::optional<Trace> read(std::span<const std::uint8_t> payload) noexcept {
  if (payload.size() < kPayloadOffset + kHeaderBytes) return std::nullopt;
  const std::uint8_t* header = payload.data() + kPayloadOffset;
  if (get<std::uint16_t>(header) != be16(kMagic)) return std::nullopt;
  const std::uint8_t room = header[kHops - 1];
  if (room > kMaxRecords || payload.size() < kPayloadOffset + kHeaderBytes + room * kRecordBytes)
    return std::nullopt;
  Trace trace{.hops = header[kHops], .records_kept = std::min(header[kHops], room)};
  for (std::size_t i = 0; i < trace.records_kept; ++i) {
    const std::uint8_t* at = header + kHeaderBytes + i * kRecordBytes;
    trace.records[i] = {.switch_id = be16(get<std::uint16_t>(at)),
                        .port = at[2],
                        .queue = at[3],
                        .sojourn_ns = be32(get<std::uint32_t>(at + 4)),
                        .left_packets = be32(get<std::uint32_t>(at + 8)),
                        .left_bytes = be32(get<std::uint32_t>(at + 12))};
  }
  return trace;
}

}  // namespace outrider::hop_trace
