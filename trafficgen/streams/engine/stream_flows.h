#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "common/core/flow_key.h"
#include "trafficgen/streams/engine/stream_config.h"

namespace outrider::tg {

/// Returns the addresses and ports of flow `index`. Source ports vary fastest, then source
/// addresses, destination addresses and destination ports.
FlowKey flow_of(const StreamConfig& stream, std::uint32_t index) noexcept;

/// Holds the header fields that differ from flow to flow in a stream's frames, in wire format.
/// Immutable: the stream's sender and receiver share it. 16 bytes per flow.
class StreamFlows {
 public:
  /// In network byte order, as in the IPv4 and UDP headers.
  struct Flow {
    std::uint32_t source;
    std::uint32_t destination;
    std::uint32_t ports;        ///< source, then destination
    std::uint32_t address_sum;  ///< one's-complement sum of both addresses, < 2^16
  };
  static_assert(sizeof(Flow) == 16);
  static constexpr std::size_t kHeaderBytes = 12;  ///< bytes of a Flow that are in the frame

  /// @param stream valid
  explicit StreamFlows(const StreamConfig& stream);

  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(flows_.size());
  }
  [[nodiscard]] const Flow& operator[](std::uint32_t flow) const noexcept { return flows_[flow]; }

  /// @param header [size >= kHeaderBytes], beginning at the source address
  [[nodiscard]] bool matches(std::uint32_t flow, const std::uint8_t* header) const noexcept {
    return std::memcmp(&flows_[flow], header, kHeaderBytes) == 0;
  }

 private:
  std::vector<Flow> flows_;
};

}  // namespace outrider::tg
