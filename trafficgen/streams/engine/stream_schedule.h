#pragma once

#include <cassert>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "common/core/clock.h"
#include "common/core/random.h"
#include "common/core/units.h"
#include "trafficgen/streams/engine/stream_config.h"

namespace outrider::tg {

/// One packet of a stream: its instant, flow, number within the flow, and size.
struct Departure {
  Time due{};
  std::uint32_t flow = 0;
  std::uint32_t sequence = 0;  ///< within the flow; wraps
  std::uint32_t size = 0;      ///< index into the schedule's sizes()
  bool operator==(const Departure&) const = default;
};

/// The sizes of a stream in the order in which its packets take them: a cycle in which each entry
/// is repeated.
struct SizeOrder {
  std::vector<std::uint32_t> sizes;  ///< [bytes] FCS included
  std::vector<std::uint32_t> cycle;  ///< indices into sizes
  std::uint32_t repeat = 1;          ///< consecutive packets that take one entry of the cycle
};

/// Returns the order of sizes. IMIX entries are spread over the cycle as evenly as their weights
/// allow, always in the same way; a sweep takes sweep_packets of each size.
SizeOrder size_order(const StreamConfig& stream);

/// Decides what leaves when. The result does not depend on how often or how late it is asked.
/// Instants are exact: a rate of r packets per second puts packet k at start + floor(k * 10^9 / r)
/// ns for any k (integers, with the remainder carried). At a bit rate each packet is followed by
/// the time of its own length. Poisson gaps are exponential with the mean of the same rate, rounded
/// to 2^-16 ns before they are added.
///
/// Packets visit the flows in turn, so packet k is number k / flows of flow k % flows, and senders
/// need no state per flow.
///
/// Pure except for its position. Not thread-safe (one lcore owns it), O(1) per packet.
class StreamSchedule {
 public:
  struct Setup {
    const StreamConfig& stream;  ///< valid, with a rate; used by the constructor only
    BitRate line_rate{};         ///< L1; required if the rate is a share of it
    std::uint64_t seed = 1;
    std::uint32_t index = 0;  ///< index of the stream, which keys its random draws
  };
  explicit StreamSchedule(const Setup& setup);

  /// Returns the instant of the next packet; kNever if there will be none.
  [[nodiscard]] Time next() const noexcept { return next_; }

  /// Takes the next packet. @pre next() != kNever
  Departure take() noexcept {
    assert(next_ != kNever);
    const Departure d{next_, flow_, round_, order_.cycle[position_]};
    advance();
    return d;
  }

  /// Takes the packets due at or before `now`, in order, at most as many as `out` holds.
  /// @return their number
  std::size_t take_due(Time now, std::span<Departure> out) noexcept {
    std::size_t n = 0;
    for (; n < out.size() && next_ <= now && next_ != kNever; ++n) out[n] = take();
    return n;
  }

  /// Delays all remaining packets, for a sender that fell behind permanently. The end of a bounded
  /// duration stays. @pre by >= 0
  void postpone(Duration by) noexcept {
    slot_end_ += by;
    if (next_ != kNever) next_ = slot_end_ < end_ ? slot_end_ : kNever;
  }

  /// Returns the end of the last taken packet's slot: the due time of the next packet, even if the
  /// stream ends before it.
  [[nodiscard]] Time slot_end() const noexcept { return slot_end_; }
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
  /// Returns the frame sizes [bytes], FCS included.
  [[nodiscard]] const std::vector<std::uint32_t>& sizes() const noexcept { return order_.sizes; }
  /// Returns the configured mean rate, over a whole cycle of sizes and bursts.
  [[nodiscard]] double packets_per_second() const noexcept { return packets_per_second_; }
  /// Returns the mean frame [bytes], FCS included.
  [[nodiscard]] double mean_frame_bytes() const noexcept { return mean_frame_bytes_; }

 private:
  /// A time as a whole number of ns and a fraction with denominator_.
  struct Step {
    std::uint64_t ns = 0;
    std::uint64_t remainder = 0;
  };

  void set_steps(const StreamConfig& stream, BitRate line_rate);
  void advance() noexcept;
  [[nodiscard]] Step random_step() noexcept;

  SizeOrder order_;
  std::vector<Step> steps_;  ///< [sizes], duration of a packet's slot
  std::uint64_t denominator_ = 1;
  std::uint64_t remainder_ = 0;  ///< < denominator_
  Time next_{};
  Time slot_end_{};
  Time end_ = kNever;  ///< no packet at or after it
  std::uint64_t taken_ = 0;
  std::uint64_t packets_ = std::numeric_limits<std::uint64_t>::max();
  std::uint32_t position_ = 0;  ///< in the cycle
  std::uint32_t repeated_ = 0;
  std::uint32_t flows_ = 1;
  std::uint32_t flow_ = 0;
  std::uint32_t round_ = 0;
  std::uint32_t burst_packets_ = 0;  ///< 0: no bursts
  std::uint32_t in_burst_ = 0;
  Duration gap_{};
  bool poisson_ = false;
  double q16_mean_ns_ = 0;
  RandomStream random_;
  double packets_per_second_ = 0;
  double mean_frame_bytes_ = 0;
};

inline void StreamSchedule::advance() noexcept {
  const Step step = poisson_ ? random_step() : steps_[order_.cycle[position_]];
  slot_end_ += Duration{static_cast<std::int64_t>(step.ns)};
  remainder_ += step.remainder;
  if (remainder_ >= denominator_) {
    remainder_ -= denominator_;
    slot_end_ += Duration{1};
  }
  if (++in_burst_ == burst_packets_) {
    in_burst_ = 0;
    slot_end_ += gap_;
  }
  if (++repeated_ == order_.repeat) {
    repeated_ = 0;
    if (++position_ == order_.cycle.size()) position_ = 0;
  }
  if (++flow_ == flows_) {
    flow_ = 0;
    ++round_;
  }
  next_ = ++taken_ < packets_ && slot_end_ < end_ ? slot_end_ : kNever;
}

}  // namespace outrider::tg
