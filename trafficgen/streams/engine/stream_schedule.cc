#include "trafficgen/streams/engine/stream_schedule.h"

#include <algorithm>
#include <utility>

namespace outrider::tg {
namespace {

constexpr std::uint64_t kQ16 = 1U << 16;

/// Smooth weighted round robin: every entry occurs `weight` times in the cycle, spread evenly; the
/// first of equal ones comes first.
std::vector<std::uint32_t> spread(const std::vector<SizeMix::Entry>& entries) {
  std::int64_t total = 0;
  for (const auto& e : entries) total += e.weight;
  std::vector<std::int64_t> credit(entries.size());
  std::vector<std::uint32_t> cycle;
  for (std::int64_t n = 0; n < total; ++n) {
    for (std::size_t i = 0; i < entries.size(); ++i) credit[i] += entries[i].weight;
    const auto most = std::ranges::max_element(credit);
    *most -= total;
    cycle.push_back(static_cast<std::uint32_t>(most - credit.begin()));
  }
  return cycle;
}

}  // namespace

SizeOrder size_order(const StreamConfig& stream) {
  SizeOrder order;
  if (stream.imix) {
    for (const auto& e : stream.imix->entries) order.sizes.push_back(e.frame_bytes);
    order.cycle = spread(stream.imix->entries);
    return order;
  }
  order.sizes = {stream.frame_bytes.value_or(kMinStreamFrameBytes)};
  order.cycle = {0};
  return order;
}

StreamSchedule::StreamSchedule(const Setup& setup)
    : order_(size_order(setup.stream)),
      flows_(setup.stream.flows),
      random_(setup.seed, setup.index, RandomPurpose::kStreamGap) {
  const StreamConfig& s = setup.stream;
  if (s.packets) packets_ = *s.packets;
  double bytes = 0;
  for (const auto index : order_.cycle) bytes += order_.sizes[index];
  mean_frame_bytes_ = bytes / static_cast<double>(order_.cycle.size());
  set_steps(s, setup.line_rate);
  if (s.pattern == StreamPattern::kOnOff) {
    burst_packets_ = s.burst_packets;
    gap_ = s.gap;
    const double burst = static_cast<double>(burst_packets_);
    packets_per_second_ = burst / (burst / packets_per_second_ + seconds(gap_));
  }
  poisson_ = s.pattern == StreamPattern::kPoisson;
  if (poisson_) {
    q16_mean_ns_ = static_cast<double>(kQ16) * 1e9 / packets_per_second_;
    denominator_ = kQ16;
  }
  set_begin(s, {setup.seed, setup.index, RandomPurpose::kStreamPhase});
}

/// A stream whose duration is shorter than the time between two packets sends one all the same.
void StreamSchedule::set_begin(const StreamConfig& s, RandomStream phase) {
  const Time begin = Time{} + s.start.value_or(Duration::zero());
  if (s.duration) end_ = begin + *s.duration;
  place_.next = begin;
  if (!s.start) {
    const double period_s = std::max(burst_packets_, 1U) / packets_per_second_;
    const double span_s = s.duration ? std::min(period_s, seconds(*s.duration)) : period_s;
    place_.next += Duration{static_cast<std::int64_t>(phase.uniform() * span_s * 1e9)};
  }
  place_.slot_end = place_.next;
  if (place_.next >= end_) place_.next = kNever;
}

void StreamSchedule::set_steps(const StreamConfig& s, BitRate line_rate) {
  steps_.resize(order_.sizes.size());
  denominator_ = s.rate->value;
  if (s.rate->unit == StreamRate::Unit::kPackets) {
    std::ranges::fill(steps_, Step{kNsPerSecond / denominator_, kNsPerSecond % denominator_});
    packets_per_second_ = static_cast<double>(denominator_);
    return;
  }
  if (s.rate->unit == StreamRate::Unit::kShare) {
    assert(line_rate.bits_per_second > 0);
    __extension__ using Wide = unsigned __int128;
    denominator_ = static_cast<std::uint64_t>(static_cast<Wide>(line_rate.bits_per_second) *
                                              s.rate->value / 1'000'000);
    assert(denominator_ > 0);  // check_line_rates()
  }
  const std::uint32_t overhead = s.layer == RateLayer::kL1 ? kL1OverFcsBytes : 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const std::uint64_t scaled = (order_.sizes[i] + overhead) * 8 * kNsPerSecond;
    steps_[i] = {scaled / denominator_, scaled % denominator_};
  }
  packets_per_second_ = static_cast<double>(denominator_) / (8 * (mean_frame_bytes_ + overhead));
}

void StreamSchedule::begin(Time now) noexcept {
  stopped_ = false;
  place_.slot_end = now;
  place_.remainder = 0;
  place_.in_burst = 0;
  place_.next = now < end_ ? now : kNever;
}

void StreamSchedule::exchange_rate(StreamSchedule& other, Time now) noexcept {
  std::swap(steps_, other.steps_);
  std::swap(denominator_, other.denominator_);
  std::swap(q16_mean_ns_, other.q16_mean_ns_);
  std::swap(packets_per_second_, other.packets_per_second_);
  if (stopped_) return;
  begin(place_.taken == 0 ? std::max(now, place_.next) : now);
}

StreamSchedule::Step StreamSchedule::random_step() noexcept {
  // 2^62 x 2^-16 ns are 19 hours: at one packet per second no 53-bit draw comes near it.
  const double drawn = std::min(random_.exponential(q16_mean_ns_) + 0.5, 0x1p62);
  const auto q16 = static_cast<std::uint64_t>(drawn);
  return {q16 >> 16, q16 & (kQ16 - 1)};
}

}  // namespace outrider::tg
