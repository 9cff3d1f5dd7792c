#include "trafficgen/roce/control/hpcc.h"

#include <algorithm>
#include <cmath>

namespace outrider::tg {

namespace {
/// Two records that are farther apart might be a wrap apart.
constexpr Duration kMostBetween = roce::kTelemetryWrap / 2;
/// The same by our own clock: packets may have waited in between.
constexpr Duration kMostSilence = roce::kTelemetryWrap / 4;
}  // namespace

Hpcc::Hpcc(const HpccConfig& config, const SendPath& path) noexcept
    : config_(config),
      path_(path),
      base_ns_(static_cast<double>(config.base_rtt.count())),
      most_bytes_(path.line_bps * base_ns_ / 8e9),
      window_bytes_(most_bytes_),
      reference_bytes_(most_bytes_) {}

double Hpcc::pace_bps() const noexcept { return window_bytes_ * 8e9 / base_ns_; }

/// A packet may leave while less than the window is in flight, so the last one may exceed it.
std::uint32_t Hpcc::window_packets() const noexcept {
  const double packets = std::ceil(window_bytes_ / path_.packet_bytes);
  return static_cast<std::uint32_t>(
      std::clamp(packets, 1.0, static_cast<double>(path_.most_packets)));
}

RateState Hpcc::state(Time /*now*/) const noexcept {
  return {.rate_bps = pace_bps(), .window_bytes = window_bytes_};
}

/// MeasureInflight of the algorithm.
/// @return false if there is nothing to compare with, or nothing new
bool Hpcc::measure(const roce::Telemetry& path, Time now) noexcept {
  const bool follows =
      path.hops == last_.hops && path.path == last_.path && now - last_at_ < kMostSilence;
  double most = 0, most_ns = 0;
  for (std::size_t i = 0; follows && i < path.records_kept; ++i) {
    const roce::HopTimes &is = path.records[i], &was = last_.records[i];
    const Duration between = roce::telemetry_between(was.at, is.at);
    if (between == Duration{} || between >= kMostBetween) return false;  // a packet that was late
    const auto between_ns = static_cast<double>(between.count());
    const auto queue_ns = static_cast<double>(std::min(is.queue, was.queue).count());
    const auto busy_ns = static_cast<double>(roce::telemetry_between(was.busy, is.busy).count());
    const double use = queue_ns / base_ns_ + busy_ns / between_ns;
    if (i != 0 && use <= most) continue;
    most = use;
    most_ns = between_ns;
  }
  last_ = path;
  last_at_ = now;
  if (!follows || path.hops == 0) return false;
  const double weight = std::min(most_ns, base_ns_) / base_ns_;
  use_ = (1 - weight) * use_ + weight * most;
  return true;
}

/// NewAck and ComputeWind of the algorithm.
void Hpcc::on_ack(const RateSample& sample, Time now) noexcept {
  if (sample.path == nullptr) return;
  const bool first = last_.hops == 0;
  if (!measure(*sample.path, now)) {
    if (first) renews_at_ = sample.next_packet;
    return;
  }
  const bool divides = use_ >= config_.eta || stage_ >= config_.max_stage;
  const double base = divides ? reference_bytes_ * config_.eta / use_ : reference_bytes_;
  window_bytes_ = std::min(base + static_cast<double>(config_.additive_bytes), most_bytes_);
  if (sample.acknowledged <= renews_at_) return;
  reference_bytes_ = window_bytes_;
  stage_ = divides ? 0 : stage_ + 1;
  renews_at_ = sample.next_packet;
}

}  // namespace outrider::tg
