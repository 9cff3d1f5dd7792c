#include "trafficgen/frames/payload.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>

#include "common/net/checksum.h"
#include "trafficgen/frames/ipv4_frame.h"

namespace outrider::tg {

namespace {
// 2^32 / golden ratio, odd, so that w -> (w + 1) x it is one-to-one (Knuth, TAOCP 3, 6.4).
constexpr std::uint32_t kMultiplier = 0x9E3779B1;

constexpr std::uint32_t word_at(std::uint32_t offset) noexcept {
  return (offset / 4 + 1) * kMultiplier;
}
constexpr std::uint8_t byte_at(std::uint32_t offset) noexcept {
  return static_cast<std::uint8_t>(word_at(offset) >> (8 * (offset % 4)));
}
static_assert(std::endian::native == std::endian::little, "words are stored as they are");

/// Returns the bytes up to the next word of the pattern.
std::size_t head_of(std::size_t size, std::uint32_t offset) noexcept {
  return std::min<std::size_t>(size, (4 - offset % 4) % 4);
}
}  // namespace

void fill_pattern(std::span<std::uint8_t> out, std::uint32_t offset) noexcept {
  std::size_t i = 0;
  for (const std::size_t head = head_of(out.size(), offset); i < head; ++i)
    out[i] = byte_at(offset++);
  std::uint32_t word = word_at(offset);
  for (; i + 4 <= out.size(); i += 4, offset += 4, word = word_at(offset))
    std::memcpy(out.data() + i, &word, sizeof word);
  for (; i < out.size(); ++i) out[i] = byte_at(offset++);
}

std::uint32_t pattern_mismatches(std::span<const std::uint8_t> bytes,
                                 std::uint32_t offset) noexcept {
  std::array<std::uint8_t, 2048> expected;
  std::uint32_t mismatches = 0;
  for (std::size_t at = 0; at < bytes.size(); at += expected.size()) {
    const auto part = bytes.subspan(at, std::min(expected.size(), bytes.size() - at));
    fill_pattern({expected.data(), part.size()}, offset + static_cast<std::uint32_t>(at));
    if (std::memcmp(part.data(), expected.data(), part.size()) == 0) [[likely]]
      continue;
    for (std::size_t i = 0; i < part.size(); ++i) mismatches += part[i] != expected[i];
  }
  return mismatches;
}

std::span<const std::uint8_t> payload_of(Packet& packet, std::uint32_t payload_bytes) noexcept {
  const std::uint32_t at =
      kTransportOffset + header_at<TcpHeader>(packet, kTransportOffset).header_bytes();
  assert(at + payload_bytes <= rte_pktmbuf_data_len(&packet));
  return buffer(packet).subspan(at, payload_bytes);
}

void write_pattern(Packet& packet, std::uint32_t offset) noexcept {
  auto& tcp = header_at<TcpHeader>(packet, kTransportOffset);
  const auto payload =
      buffer(packet).subspan(kTransportOffset + tcp.header_bytes(), meta(packet).payload_bytes);
  fill_pattern(payload, offset);
  std::uint16_t checksum;
  std::memcpy(&checksum, tcp.checksum.raw.data(), sizeof checksum);
  checksum = static_cast<std::uint16_t>(
      ~checksum_fold(checksum_add(payload, static_cast<std::uint16_t>(~checksum))));
  std::memcpy(tcp.checksum.raw.data(), &checksum, sizeof checksum);
}

}  // namespace outrider::tg
