#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "common/net/checksum.h"
#include "common/net/headers.h"
#include "common/net/hop_trace.h"
#include "trafficgen/streams/engine/stream_config.h"
#include "trafficgen/streams/engine/stream_flows.h"
#include "trafficgen/streams/engine/stream_schedule.h"
#include "trafficgen/streams/engine/stream_stamp.h"

namespace outrider::tg {

inline constexpr std::uint32_t kStreamIpOffset = sizeof(EthernetHeader);
inline constexpr std::uint32_t kStreamUdpOffset = kStreamIpOffset + sizeof(Ipv4Header);
inline constexpr std::uint32_t kUdpHeaderBytes = 8;
inline constexpr std::uint32_t kStreamStampOffset = kStreamUdpOffset + kUdpHeaderBytes;
/// Number of first bytes of every frame, which are written at once; a buffer must hold as many.
inline constexpr std::uint32_t kStreamHeadBytes = 64;
/// The header of a probe's trace follows the stamp; its records follow the head.
static_assert(kStreamStampOffset + kStampBytes + hop_trace::kHeaderBytes == kStreamHeadBytes);
static_assert(hop_trace::kPayloadOffset == kStampBytes);
static_assert(kStreamStampOffset + kStampBytes == kMinStreamFrameBytes - kFcsBytes,
              "the stamp is all that the shortest frame has room for");

/// Writes the frames of one stream: Ethernet, IPv4, UDP, stamp and, for probes, the room for hop
/// records. The rest of the payload is zeros, which the buffers of the pool already hold. A frame
/// of any length therefore costs one copy of 64 bytes and the fields that differ by packet.
///
/// Not thread-safe (one lcore owns it).
class StreamFrames {
 public:
  /// @param stream valid. @param sizes of its schedule [bytes, FCS included]
  StreamFrames(const StreamConfig& stream, std::uint32_t id,
               std::shared_ptr<const StreamFlows> flows, const std::vector<std::uint32_t>& sizes);

  /// @param frame [size >= kStreamHeadBytes]; the bytes after it must be zeros
  void write(std::uint8_t* frame, const Departure& d, std::uint64_t ticks) const noexcept;

  /// Writes a later departure into a frame of write().
  void restamp(std::uint8_t* frame, std::uint64_t ticks) const noexcept;

  /// Returns the length [bytes] in the buffer, without FCS.
  [[nodiscard]] std::uint16_t buffer_bytes(std::uint32_t size) const noexcept {
    return templates_[size].buffer_bytes;
  }

 private:
  struct alignas(32) Template {
    std::array<std::uint8_t, kStreamHeadBytes> head{};
    std::uint32_t ip_sum = 0;   ///< of the header without addresses
    std::uint32_t udp_sum = 0;  ///< of pseudo header, header and stamp: what flows share
    std::uint16_t buffer_bytes = 0;
  };

  [[nodiscard]] static std::uint16_t udp_checksum(std::uint64_t sum) noexcept {
    const auto checksum = static_cast<std::uint16_t>(~checksum_fold(sum));
    return checksum == 0 ? 0xFFFF : checksum;  // RFC 768: zero means none
  }

  std::vector<Template> templates_;  ///< [sizes]
  std::shared_ptr<const StreamFlows> flows_;
  std::uint32_t stream_bits_;  ///< id, at its place in the stamp
  bool full_checksum_;
  std::uint32_t record_bytes_;  ///< for probes: hop records after the head, to clear
};

namespace stream_frames_detail {

constexpr std::uint64_t halves(std::uint32_t word) noexcept {
  return std::uint64_t{word & 0xFFFF} + (word >> 16);
}
constexpr std::uint64_t halves(std::uint64_t word) noexcept {
  return (word & 0xFFFFFFFF) + (word >> 32);
}
template <class T>
void put(std::uint8_t* at, T value) noexcept {
  std::memcpy(at, &value, sizeof value);
}

}  // namespace stream_frames_detail

inline void StreamFrames::write(std::uint8_t* frame, const Departure& d,
                                std::uint64_t ticks) const noexcept {
  using namespace stream_frames_detail;
  const Template& t = templates_[d.size];
  const StreamFlows::Flow& flow = (*flows_)[d.flow];
  std::memcpy(frame, t.head.data(), kStreamHeadBytes);
  if (record_bytes_ != 0) [[unlikely]]
    std::memset(frame + kStreamHeadBytes, 0, record_bytes_);
  std::memcpy(frame + kStreamIpOffset + 12, &flow, StreamFlows::kHeaderBytes);
  put(frame + kStreamIpOffset + 10,
      static_cast<std::uint16_t>(~checksum_fold(t.ip_sum + flow.address_sum)));
  const std::uint32_t stream_and_flow = be32(stream_bits_ | d.flow);
  const std::uint32_t sequence = be32(d.sequence);
  const std::uint64_t stamped = stamp_ticks(ticks);
  std::uint8_t* stamp = frame + kStreamStampOffset;
  put(stamp + kStampFlowOffset, stream_and_flow);
  put(stamp + kStampSequenceOffset, sequence);
  std::memcpy(stamp + kStampTicksOffset, &stamped, kStampTicksBytes);
  if (full_checksum_)
    put(frame + kStreamUdpOffset + 6,
        udp_checksum(t.udp_sum + flow.address_sum + halves(flow.ports) + halves(stream_and_flow) +
                     halves(sequence) + halves(stamped)));
}

}  // namespace outrider::tg
