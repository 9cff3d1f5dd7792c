#include "trafficgen/streams/replay/replay_schedule.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace outrider::tg {
namespace {

__extension__ using Wide = unsigned __int128;

/// Returns a time of any length as one that is at most a quarter of what 64 bits hold: a sum of
/// three fits, and comes after kEndOfSchedules.
Duration within_time(Wide ns) noexcept {
  constexpr Wide kMost = Wide{1} << 61;
  return Duration{static_cast<std::int64_t>(std::min(ns, kMost))};
}

/// Returns the time from the first frame of a round to the first of the next.
Duration period_of(const PcapTrace& trace) {
  const Duration span = trace.packets.back().at;
  const auto gaps = static_cast<std::int64_t>(trace.packets.size()) - 1;
  return gaps == 0 ? Duration{std::chrono::microseconds(1)} : span + span / gaps;
}

}  // namespace

ReplaySchedule::ReplaySchedule(const ReplayConfig& config, std::shared_ptr<const PcapTrace> trace,
                               BitRate line_rate)
    : trace_(std::move(trace)),
      loops_(config.loops),
      speed_millionths_(static_cast<std::uint64_t>(std::llround(config.speed * 1e6))),
      by_rate_(config.rate.has_value()),
      start_(Time{} + config.start),
      period_(scaled(period_of(*trace_))),
      next_(start_),
      slot_end_(start_) {
  if (config.duration) end_ = start_ + *config.duration;
  const auto packets = static_cast<double>(trace_->packets.size());
  mean_frame_bytes_ = static_cast<double>(trace_->bytes.size()) / packets + kFcsBytes;
  if (!by_rate_) {
    packets_per_second_ = period_ == Duration{} ? 0 : packets / seconds(period_);
    return;
  }
  in_packets_ = config.rate->unit == StreamRate::Unit::kPackets;
  overhead_bytes_ = kFcsBytes + (config.layer == RateLayer::kL1 ? kL1OverFcsBytes : 0);
  denominator_ = config.rate->value;
  if (config.rate->unit == StreamRate::Unit::kShare)
    denominator_ =
        static_cast<std::uint64_t>(Wide{line_rate.bits_per_second} * denominator_ / 1'000'000);
  assert(denominator_ > 0);
  const double overhead = overhead_bytes_ - kFcsBytes;
  packets_per_second_ =
      in_packets_ ? static_cast<double>(denominator_)
                  : static_cast<double>(denominator_) / (8 * (mean_frame_bytes_ + overhead));
}

Duration ReplaySchedule::scaled(Duration of_trace) const noexcept {
  const Wide ns = Wide{static_cast<std::uint64_t>(of_trace.count())} * 1'000'000;
  return within_time(ns / speed_millionths_);
}

Time ReplaySchedule::by_trace() const noexcept {
  const Wide loops = Wide{loop_} * static_cast<std::uint64_t>(period_.count());
  return start_ + postponed_ + within_time(loops) + scaled(trace_->packets[index_].at);
}

void ReplaySchedule::advance_by_rate(std::uint32_t frame_bytes) noexcept {
  const Wide scaled_step =
      in_packets_ ? Wide{kNsPerSecond} : Wide{frame_bytes + overhead_bytes_} * 8 * kNsPerSecond;
  const Wide total = scaled_step + remainder_;
  slot_end_ += Duration{static_cast<std::int64_t>(total / denominator_)};
  remainder_ = static_cast<std::uint64_t>(total % denominator_);
}

Departure ReplaySchedule::take() noexcept {
  assert(next_ != kNever);
  const Departure d{next_, 0, static_cast<std::uint32_t>(taken_),
                    static_cast<std::uint32_t>(index_)};
  const std::uint32_t frame_bytes = trace_->packets[index_].size;
  if (++index_ == trace_->packets.size()) {
    index_ = 0;
    ++loop_;
  }
  if (by_rate_) advance_by_rate(frame_bytes);
  else slot_end_ = by_trace();
  ++taken_;
  next_ = loop_ < loops_ && slot_end_ < end_ ? slot_end_ : kNever;
  return d;
}

}  // namespace outrider::tg
