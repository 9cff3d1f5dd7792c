#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "trafficgen/import/pcap_trace.h"
#include "trafficgen/streams/engine/stream_schedule.h"
#include "trafficgen/streams/replay/replay_config.h"

namespace outrider::tg {

/// Decides when each frame of a trace leaves, like StreamSchedule. With the trace's gaps, frame k
/// of round l is due at start + l x period + (its stamp) / speed. Each instant is computed from
/// scratch, so nothing drifts. The period is the trace's span plus one mean gap. At a rate, frames
/// follow one another like those of a stream.
class ReplaySchedule {
 public:
  /// @param trace not empty. @param line_rate required if the rate is a share of it
  ReplaySchedule(const ReplayConfig& config, std::shared_ptr<const PcapTrace> trace,
                 BitRate line_rate);

  [[nodiscard]] Time next() const noexcept { return next_; }
  /// @pre next() != kNever. @return `size` is the frame's position in the trace
  Departure take() noexcept;
  std::size_t take_due(Time now, std::span<Departure> out) noexcept {
    std::size_t n = 0;
    for (; n < out.size() && next_ <= now && next_ != kNever; ++n) out[n] = take();
    return n;
  }
  void postpone(Duration by) noexcept {
    postponed_ += by;
    slot_end_ += by;
    if (next_ != kNever) next_ = slot_end_ < end_ ? slot_end_ : kNever;
  }
  [[nodiscard]] Time slot_end() const noexcept { return slot_end_; }
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
  [[nodiscard]] double packets_per_second() const noexcept { return packets_per_second_; }
  [[nodiscard]] double mean_frame_bytes() const noexcept { return mean_frame_bytes_; }

 private:
  [[nodiscard]] Duration scaled(Duration of_trace) const noexcept;
  [[nodiscard]] Time by_trace() const noexcept;
  void advance_by_rate(std::uint32_t frame_bytes) noexcept;

  std::shared_ptr<const PcapTrace> trace_;
  std::uint64_t loops_;
  std::uint64_t speed_millionths_;
  bool by_rate_;
  bool in_packets_ = false;        ///< the rate is one of packets
  std::uint64_t denominator_ = 1;  ///< packets or bits per second
  std::uint32_t overhead_bytes_ = 0;
  std::uint64_t remainder_ = 0;  ///< fraction of slot_end_, < denominator_
  Time start_{};
  Duration period_{};
  Duration postponed_{};
  Time next_{};
  Time slot_end_{};
  Time end_ = kEndOfSchedules;
  std::uint64_t taken_ = 0;
  std::uint64_t loop_ = 0;
  std::size_t index_ = 0;
  double packets_per_second_ = 0;
  double mean_frame_bytes_ = 0;
};

}  // namespace outrider::tg
