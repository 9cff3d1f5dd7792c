#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace outrider::tg {

/// Ranks the packets of a tensor by the mean magnitude |g| of their gradients. The rank of a packet
/// is (number of packets below it + 0.5) / number of packets, so that a share s of ranks is below
/// s. Packets of equal magnitude are ranked by place.
///
/// Source: gradient-aware dropping of DLCP (arXiv 2008.08445) and MLT (NSDI 2024), as far as notes
/// about them describe it: what matters least is dropped first. The rule, by rank within the
/// tensor, is our choice.
///
/// Allocates at construction only. Not thread-safe.
class MagnitudeRanks {
 public:
  /// @param most_packets of a tensor
  explicit MagnitudeRanks(std::uint32_t most_packets) { packets_.reserve(most_packets); }

  void clear() noexcept { packets_.clear(); }
  /// @pre fewer than most_packets were added since clear()
  void add(std::uint32_t packet, double magnitude) noexcept {
    packets_.push_back({magnitude, packet});
  }
  /// Writes the rank of each packet that was added, in units of 2^-32. @param ranks [packets]
  void write(std::span<std::uint32_t> ranks) noexcept;

 private:
  struct Packet {
    double magnitude = 0;
    std::uint32_t packet = 0;
  };
  std::vector<Packet> packets_;
};

}  // namespace outrider::tg
