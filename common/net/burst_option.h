#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "common/core/burst_identity.h"
#include "common/net/header_writer.h"

namespace outrider {

/// TCP option that carries a BurstIdentity on every segment of a burst:
/// kind 253 (experimental, RFC 4727), length 12, ExID (RFC 6994) 0x4F52,
/// job, direction bit and worker, iteration. Receivers that do not know the
/// option ignore it (RFC 9293, section 3.1).
inline constexpr std::uint8_t kBurstOptionKind = 253;
inline constexpr std::uint8_t kBurstOptionBytes = 12;
inline constexpr std::uint16_t kBurstOptionExId = 0x4F52;

/// Writes kBurstOptionBytes. @pre identity.worker < 32768
inline void encode_burst_option(const BurstIdentity& id, HeaderWriter& out) noexcept {
  const auto worker = static_cast<std::uint16_t>(
      id.worker | (id.direction == BurstDirection::kPull ? 0x8000U : 0U));
  out.put(word_of(kBurstOptionKind << 8 | kBurstOptionBytes, kBurstOptionExId));
  out.put(word_of(id.job, worker));
  out.put(be32(id.iteration));
}

/// @param options the option bytes of one TCP header, any content
/// @return the identity, or nothing if the option is absent or malformed
inline std::optional<BurstIdentity> decode_burst_option(
    std::span<const std::uint8_t> options) noexcept {
  std::size_t at = 0;
  while (at < options.size()) {
    const std::uint8_t kind = options[at];
    if (kind == 0) return std::nullopt;  // end of list
    if (kind == 1) {                     // padding
      ++at;
      continue;
    }
    if (at + 1 >= options.size()) return std::nullopt;
    const std::uint8_t length = options[at + 1];
    if (length < 2 || at + length > options.size()) return std::nullopt;
    if (kind == kBurstOptionKind && length == kBurstOptionBytes) {
      std::uint16_t words[3];
      std::memcpy(words, options.data() + at + 2, sizeof words);
      std::uint32_t iteration;
      std::memcpy(&iteration, options.data() + at + 8, sizeof iteration);
      if (be16(words[0]) == kBurstOptionExId) {
        const std::uint16_t worker = be16(words[2]);
        return BurstIdentity{
            .job = be16(words[1]),
            .worker = static_cast<std::uint16_t>(worker & 0x7FFF),
            .iteration = be32(iteration),
            .direction = (worker & 0x8000) != 0 ? BurstDirection::kPull : BurstDirection::kPush};
      }
    }
    at += length;
  }
  return std::nullopt;
}

}  // namespace outrider
