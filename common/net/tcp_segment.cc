#include "common/net/tcp_segment.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "common/net/burst_option.h"
#include "common/net/checksum.h"
#include "common/net/header_writer.h"
#include "common/net/tcp_options.h"

namespace outrider {
namespace {

constexpr std::uint32_t kMssBytes = 4;
constexpr std::uint32_t kSackPermittedBytes = 2;
constexpr std::uint32_t kSackBlockBytes = 8;
constexpr std::uint32_t kTimestampsBytes = 10;
constexpr std::uint32_t kTimestampsRoom = 12;  ///< with two NOPs in front (RFC 7323, appendix A)

/// Returns whether the segment has options that only handshakes and loss need.
bool has_rare_options(const TcpSegment& s) noexcept {
  return s.mss != 0 || s.window_scale >= 0 || s.sack_permitted || s.sack_blocks != 0;
}

std::uint32_t rare_option_bytes(const TcpSegment& s) noexcept {
  std::uint32_t bytes = 0;
  if (s.mss != 0) bytes += kMssBytes;
  if (s.window_scale >= 0) bytes += kWindowScaleBytes;
  if (s.sack_permitted) bytes += kSackPermittedBytes;
  if (s.sack_blocks != 0) bytes += 2 + kSackBlockBytes * s.sack_blocks;
  return bytes;
}

void store_be32(std::uint8_t* at, std::uint32_t v) noexcept {
  v = be32(v);
  std::memcpy(at, &v, sizeof v);
}

std::uint32_t load_be32(const std::uint8_t* at) noexcept {
  std::uint32_t v;
  std::memcpy(&v, at, sizeof v);
  return be32(v);
}

void write_timestamps(const TcpSegment& s, HeaderWriter& out) noexcept {
  out.put(word_of(kNoOperation << 8 | kNoOperation, kTimestamps << 8 | kTimestampsBytes));
  out.put(be32(s.ts_value));
  out.put(be32(s.ts_echo));
}

std::uint8_t* write_rare_options(const TcpSegment& s, std::uint8_t* at) noexcept {
  if (s.mss != 0) {
    at[0] = kMaximumSegmentSize;
    at[1] = kMssBytes;
    at[2] = static_cast<std::uint8_t>(s.mss >> 8);
    at[3] = static_cast<std::uint8_t>(s.mss & 0xFF);
    at += kMssBytes;
  }
  if (s.window_scale >= 0) {
    at[0] = kWindowScale;
    at[1] = kWindowScaleBytes;
    at[2] = static_cast<std::uint8_t>(s.window_scale);
    at += kWindowScaleBytes;
  }
  if (s.sack_permitted) {
    at[0] = kSackPermitted;
    at[1] = kSackPermittedBytes;
    at += kSackPermittedBytes;
  }
  if (s.sack_blocks != 0) {
    at[0] = kSack;
    at[1] = static_cast<std::uint8_t>(2 + kSackBlockBytes * s.sack_blocks);
    at += 2;
    for (std::uint8_t i = 0; i < s.sack_blocks; ++i, at += kSackBlockBytes) {
      store_be32(at, s.sack[i].begin);
      store_be32(at + 4, s.sack[i].end);
    }
  }
  return at;
}

void read_sack(std::span<const std::uint8_t> option, TcpSegment& s) noexcept {
  const std::size_t body = option.size() - 2;
  const std::size_t blocks = body / kSackBlockBytes;
  if (body % kSackBlockBytes != 0 || blocks > s.sack.size()) return;
  s.sack_blocks = static_cast<std::uint8_t>(blocks);
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::uint8_t* at = option.data() + 2 + i * kSackBlockBytes;
    s.sack[i] = {load_be32(at), load_be32(at + 4)};
  }
}

void read_identity(std::span<const std::uint8_t> option, TcpSegment& s) noexcept {
  if (const auto identity = decode_burst_option(option)) {
    s.has_identity = true;
    s.identity = *identity;
  }
}

void read_timestamps(std::span<const std::uint8_t> option, TcpSegment& s) noexcept {
  if (option.size() != kTimestampsBytes) return;
  s.has_timestamps = true;
  s.ts_value = load_be32(option.data() + 2);
  s.ts_echo = load_be32(option.data() + 6);
}

/// Reads one option. A known kind with an unexpected length is skipped like an unknown one.
/// @param option kind, length and body; at least 2 bytes
void read_option(std::span<const std::uint8_t> option, TcpSegment& s) noexcept {
  const std::size_t length = option.size();
  switch (option[0]) {
    case kMaximumSegmentSize:
      if (length == kMssBytes) s.mss = static_cast<std::uint16_t>(option[2] << 8 | option[3]);
      break;
    case kWindowScale:
      if (length == kWindowScaleBytes) {
        s.window_scale = static_cast<std::int8_t>(std::min(option[2], kMaxWindowScale));
      }
      break;
    case kSackPermitted:
      if (length == kSackPermittedBytes) s.sack_permitted = true;
      break;
    case kSack:
      read_sack(option, s);
      break;
    case kTimestamps:
      read_timestamps(option, s);
      break;
    case kBurstOptionKind:
      read_identity(option, s);
      break;
    default:
      break;
  }
}

}  // namespace

std::uint32_t tcp_header_bytes(const TcpSegment& s) noexcept {
  std::uint32_t bytes = s.has_identity ? kBurstOptionBytes : 0;
  if (s.has_timestamps) bytes += kTimestampsRoom;
  if (has_rare_options(s)) [[unlikely]]
    bytes += rare_option_bytes(s);
  assert(bytes <= kMaxTcpOptionBytes);
  return static_cast<std::uint32_t>(sizeof(TcpHeader)) + ((bytes + 3U) & ~3U);
}

EncodedTcp detail::encode_tcp_with_options(const TcpSegment& s, std::uint16_t source_port,
                                           std::uint16_t destination_port,
                                           std::span<std::uint8_t> out) noexcept {
  const std::uint32_t bytes = tcp_header_bytes(s);
  assert(out.size() >= bytes && s.sack_blocks <= s.sack.size());
  assert(s.window_scale <= kMaxWindowScale);
  HeaderWriter header(out.data());
  write_fixed_header(header, s, source_port, destination_port, bytes);
  // The identity is the first option, so that it sits at a fixed place.
  if (s.has_identity) encode_burst_option(s.identity, header);
  if (s.has_timestamps) write_timestamps(s, header);
  if (!has_rare_options(s)) [[likely]]
    return {bytes, header.sum()};
  std::uint8_t* const end = out.data() + bytes;
  std::uint8_t* const at = write_rare_options(s, header.at());
  assert(at <= end);
  std::memset(at, kNoOperation, static_cast<std::size_t>(end - at));
  return {bytes, checksum_add({header.at(), end}, header.sum())};
}

bool detail::read_options(std::span<const std::uint8_t> options, TcpSegment& s) noexcept {
  if (options.size() == kBurstOptionBytes && options[0] == kBurstOptionKind &&
      options[1] == kBurstOptionBytes) [[likely]] {
    read_identity(options, s);
    return true;
  }
  std::size_t at = 0;
  while (at < options.size()) {
    if (options[at] == kEndOfList) return true;
    if (options[at] == kNoOperation) {
      ++at;
      continue;
    }
    if (at + 1 >= options.size()) return false;
    const std::size_t length = options[at + 1];
    if (length < 2 || length > options.size() - at) return false;
    read_option(options.subspan(at, length), s);
    at += length;
  }
  return true;
}

}  // namespace outrider
