#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace outrider {

/// Writes blocks of a capture file in the pcapng format, in the machine's byte order, which the
/// file states. The functions are pure; each appends to `out`.
///
/// Source: draft-ietf-opsawg-pcapng (section 4.1 section header, 4.2 interface description,
/// 4.3 enhanced packet). rte_pcapng of DPDK 22.11 cannot write comments, so we do not use it.
namespace pcapng {

using Bytes = std::vector<std::uint8_t>;

/// Begins a file. @param application that writes it
void section_header(Bytes& out, std::string_view application);

/// Adds an Ethernet interface, numbered from 0. Times of its packets are in nanoseconds.
/// @param snap_bytes  largest number of bytes kept of a packet; 0: all
void interface_description(Bytes& out, std::string_view name, std::uint32_t snap_bytes);

struct PacketRecord {
  std::uint32_t interface = 0;
  std::uint64_t at_ns = 0;                   ///< since 1970
  std::uint32_t frame_bytes = 0;             ///< of the packet itself
  std::span<const std::uint8_t> captured{};  ///< its first bytes
  std::string_view comment{};                ///< UTF-8
};
void enhanced_packet(Bytes& out, const PacketRecord& packet);

}  // namespace pcapng
}  // namespace outrider
