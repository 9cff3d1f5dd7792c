#include "trafficgen/streams/engine/stream_receiver.h"

#include <algorithm>
#include <cstring>

#include "common/core/ecn.h"
#include "common/net/checksum.h"
#include "trafficgen/streams/engine/stream_frames.h"
#include "trafficgen/streams/engine/stream_stamp.h"

namespace outrider::tg {
namespace {

/// A departure that seems to lie further back is one in the future.
constexpr std::uint64_t kLongestTicks = std::uint64_t{1} << 47;
/// What a StreamSample holds. A latency of kLongestTicks is shorter.
constexpr std::uint64_t kLongestLatency_ns = (std::uint64_t{1} << 63) - 1;

const Ipv4Header& ip_of(std::span<const std::uint8_t> bytes) noexcept {
  return *reinterpret_cast<const Ipv4Header*>(bytes.data() + kStreamIpOffset);
}

std::uint32_t magic_of(std::span<const std::uint8_t> bytes) noexcept {
  std::uint32_t magic;
  std::memcpy(&magic, bytes.data() + kStreamStampOffset, sizeof magic);
  return magic;
}

std::uint16_t word_at(std::span<const std::uint8_t> bytes, std::size_t offset) noexcept {
  std::uint16_t word;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

/// Checks the checksum of RFC 768; payload that is not in the buffer is zeros.
bool udp_checksum_valid(std::span<const std::uint8_t> bytes, std::uint16_t udp_bytes) noexcept {
  const std::size_t present = std::min<std::size_t>(bytes.size() - kStreamUdpOffset, udp_bytes);
  const std::uint64_t pseudo = checksum_add(bytes.subspan(kStreamIpOffset + 12, 8), 0) +
                               be16(kIpProtocolUdp) + be16(udp_bytes);
  return checksum_fold(checksum_add(bytes.subspan(kStreamUdpOffset, present), pseudo)) == 0xFFFF;
}

}  // namespace

StreamReceiver::StreamReceiver(const std::vector<Expected>& streams, std::uint64_t ticks_per_second)
    : scale_(ticks_per_second) {
  by_id_.fill(kNone);
  streams_.reserve(streams.size());
  for (const Expected& e : streams) {
    by_id_[e.id] = static_cast<std::uint16_t>(streams_.size());
    streams_.emplace_back(e);
  }
}

bool StreamReceiver::is_stamped(std::span<const std::uint8_t> bytes) noexcept {
  return bytes.size() >= kStreamStampOffset + kStampBytes &&
         word_at(bytes, 12) == be16(kEtherTypeIpv4) && bytes[kStreamIpOffset] == 0x45 &&
         ip_of(bytes).protocol == kIpProtocolUdp && magic_of(bytes) == be32(kStampMagic);
}

StreamEnd StreamReceiver::receive(std::span<const std::uint8_t> bytes, std::uint32_t frame_bytes,
                                  std::uint64_t ticks) noexcept {
  ++arrived_;
  const StreamEnd end = judge(bytes, frame_bytes, ticks);
  ++ends_[static_cast<std::size_t>(end)];
  return end;
}

StreamEnd StreamReceiver::judge(std::span<const std::uint8_t> bytes, std::uint32_t frame_bytes,
                                std::uint64_t ticks) noexcept {
  if (!is_stamped(bytes)) return StreamEnd::kForeign;
  const Ipv4Header& ip = ip_of(bytes);
  if (!ipv4_checksum_valid(ip)) return StreamEnd::kBadChecksum;
  const std::uint16_t udp_bytes = be16(word_at(bytes, kStreamUdpOffset + 4));
  if (ip.total_length.get() != udp_bytes + sizeof(Ipv4Header) ||
      udp_bytes < kUdpHeaderBytes + kStampBytes || kStreamUdpOffset + udp_bytes > frame_bytes)
    return StreamEnd::kTruncated;
  if (word_at(bytes, kStreamUdpOffset + 6) != 0 && !udp_checksum_valid(bytes, udp_bytes))
    return StreamEnd::kBadChecksum;
  const StreamStamp stamp = *read_stamp(bytes.data() + kStreamStampOffset);
  const std::uint16_t index = by_id_[stamp.stream];
  if (index == kNone || stamp.flow >= streams_[index].flows->size()) return StreamEnd::kUnknownFlow;
  Stream& stream = streams_[index];
  if (!stream.flows->matches(stamp.flow, bytes.data() + kStreamIpOffset + 12))
    return StreamEnd::kWrongFlow;
  const std::uint64_t elapsed = ticks_between(stamp.ticks, ticks);
  if (elapsed > kLongestTicks) return StreamEnd::kBadStamp;
  if (!count(stream, stream.tracker.on_arrival(stamp.flow, stamp.sequence)))
    return StreamEnd::kBadStamp;
  const std::uint64_t latency_ns = scale_.ns(elapsed);
  const bool ce = ecn_of(ip.tos) == Ecn::kCe;
  note(stream, {.latency_ns = latency_ns & kLongestLatency_ns, .ce = ce});
  if (stream.hops != nullptr) [[unlikely]] {
    const std::size_t present = std::min<std::size_t>(bytes.size(), kStreamUdpOffset + udp_bytes);
    const auto trace = hop_trace::read(bytes.first(present).subspan(kStreamStampOffset));
    if (trace) stream.hops->on_probe(stamp.flow, stamp.sequence, latency_ns, *trace);
  }
  stream.counters.frame_bytes += frame_bytes + kFcsBytes;
  stream.counters.ce_marked += ce ? 1 : 0;
  return StreamEnd::kTaken;
}

bool StreamReceiver::count(Stream& stream, SequenceTracker::Verdict verdict) noexcept {
  StreamReceiveCounters& c = stream.counters;
  switch (verdict.arrived) {
    case Arrived::kImplausible:
      return false;
    case Arrived::kReordered:
      ++c.reordered;
      c.max_extent = std::max(c.max_extent, verdict.extent);
      [[fallthrough]];
    case Arrived::kInOrder:
      ++c.distinct;
      break;
    case Arrived::kDuplicate:
      ++c.duplicated;
      break;
    case Arrived::kBeyondWindow:
      ++c.beyond_window;
      break;
  }
  ++c.taken;
  c.skipped += verdict.skipped;
  return true;
}

void StreamReceiver::note(Stream& stream, StreamSample sample) noexcept {
  stream.latency.record(sample.latency_ns);
  if (stream.max_samples == 0) return;
  if (stream.samples.size() < stream.max_samples) stream.samples.push_back(sample);
  else ++stream.counters.samples_not_kept;
}

}  // namespace outrider::tg
