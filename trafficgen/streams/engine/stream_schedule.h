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

/// No schedule goes on for longer, 146 years, so that no instant wraps: a packet a day is enough to
/// come so far in a preview.
inline constexpr Time kEndOfSchedules{Duration{std::int64_t{1} << 62}};

/// One packet of a stream: its instant, flow, number within the flow, and size.
struct Departure {
  Time due{};
  std::uint32_t flow = 0;
  std::uint32_t sequence = 0;  ///< within the flow; wraps
  std::uint32_t size = 0;      ///< index into the schedule's sizes()
  bool operator==(const Departure&) const = default;
};

/// The sizes of a stream in the order in which its packets take them.
struct SizeOrder {
  std::vector<std::uint32_t> sizes;  ///< [bytes] FCS included
  std::vector<std::uint32_t> cycle;  ///< indices into sizes
};

/// Returns the order of sizes. IMIX entries are spread over the cycle as evenly as their weights
/// allow, always in the same way.
SizeOrder size_order(const StreamConfig& stream);

/// Decides what leaves when. The result does not depend on how often or how late it is asked.
/// Instants are exact: a rate of r packets per second puts packet k at start + floor(k * 10^9 / r)
/// ns for any k (integers, with the remainder carried). A stream without a start begins at one that
/// is drawn, see StreamConfig. At a bit rate each packet is followed by
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
    std::uint32_t index = 0;  ///< of the stream, which keys its random draws
  };
  explicit StreamSchedule(const Setup& setup);

  /// Returns the instant of the next packet; kNever if there will be none.
  [[nodiscard]] Time next() const noexcept { return place_.next; }

  /// Takes the next packet. @pre next() != kNever
  Departure take() noexcept {
    assert(place_.next != kNever);
    return take(place_);
  }

  /// Takes the packets due at or before `now`, in order, at most as many as `out` holds.
  /// @return their number
  std::size_t take_due(Time now, std::span<Departure> out) noexcept {
    // In registers: in memory, each packet would wait for the stores of the one before, which are
    // read back in another width.
    Place place = place_;
    std::size_t n = 0;
    for (; n < out.size() && place.next <= now && place.next != kNever; ++n) out[n] = take(place);
    place_ = place;
    return n;
  }

  /// Delays all remaining packets, for a sender that fell behind permanently. The end of a bounded
  /// duration stays. @pre by >= 0
  void postpone(Duration by) noexcept {
    place_.slot_end += by;
    if (place_.next != kNever) place_.next = place_.slot_end < end_ ? place_.slot_end : kNever;
  }

  // Steering. What was due before is never made up for: the schedule begins anew at `now`, with a
  // whole slot and a whole burst. Flows, numbers and sizes go on where they were.

  /// Nothing is due until begin(). @pre !over(now)
  void stop() noexcept {
    stopped_ = true;
    place_.next = kNever;
  }
  /// The next packet is due at `now`. @pre !over(now)
  void begin(Time now) noexcept;
  /// Exchanges the rates of both schedules, which are made of one stream but for its rate. This one
  /// begins anew, unless it is stopped or its first packet is due later.
  void exchange_rate(StreamSchedule& other, Time now) noexcept;
  [[nodiscard]] bool stopped() const noexcept { return stopped_; }
  /// Returns true if there will be no packet, whatever begins anew.
  [[nodiscard]] bool over(Time now) const noexcept {
    return place_.next == kNever && !(stopped_ && now < end_);
  }

  /// Returns the end of the last taken packet's slot: the due time of the next packet, even if the
  /// stream ends before it.
  [[nodiscard]] Time slot_end() const noexcept { return place_.slot_end; }
  [[nodiscard]] std::uint64_t taken() const noexcept { return place_.taken; }
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

  /// Where the schedule is: all that changes from packet to packet, but for random draws.
  struct Place {
    Time next{};
    Time slot_end{};
    std::uint64_t remainder = 0;  ///< < denominator_
    std::uint64_t taken = 0;
    std::uint32_t position = 0;  ///< in the cycle
    std::uint32_t flow = 0;
    std::uint32_t round = 0;
    std::uint32_t in_burst = 0;
  };

  void set_steps(const StreamConfig& stream, BitRate line_rate);
  void set_begin(const StreamConfig& stream, RandomStream phase);
  [[gnu::always_inline]] Departure take(Place& place) noexcept;
  [[nodiscard]] Step random_step() noexcept;

  Place place_;
  SizeOrder order_;
  std::vector<Step> steps_;  ///< [sizes], duration of a packet's slot
  std::uint64_t denominator_ = 1;
  Time end_ = kEndOfSchedules;  ///< no packet at or after it
  std::uint64_t packets_ = std::numeric_limits<std::uint64_t>::max();
  std::uint32_t flows_ = 1;
  std::uint32_t burst_packets_ = 0;  ///< 0: no bursts
  Duration gap_{};
  bool poisson_ = false;
  bool stopped_ = false;
  double q16_mean_ns_ = 0;
  RandomStream random_;
  double packets_per_second_ = 0;
  double mean_frame_bytes_ = 0;
};

inline Departure StreamSchedule::take(Place& place) noexcept {
  const std::uint32_t size = order_.cycle[place.position];
  const Departure taken{place.next, place.flow, place.round, size};
  const Step step = poisson_ ? random_step() : steps_[size];
  place.slot_end += Duration{static_cast<std::int64_t>(step.ns)};
  place.remainder += step.remainder;
  if (place.remainder >= denominator_) {
    place.remainder -= denominator_;
    place.slot_end += Duration{1};
  }
  if (++place.in_burst == burst_packets_) {
    place.in_burst = 0;
    place.slot_end += gap_;
  }
  if (++place.position == order_.cycle.size()) place.position = 0;
  if (++place.flow == flows_) {
    place.flow = 0;
    ++place.round;
  }
  const bool more = ++place.taken < packets_ && place.slot_end < end_;
  place.next = more ? place.slot_end : kNever;
  return taken;
}

}  // namespace outrider::tg
