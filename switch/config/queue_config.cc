#include "switch/config/queue_config.h"

#include <string>

#include "common/config/quantities.h"

namespace outrider {

namespace {
constexpr std::uint64_t kMaxQueuePackets = 1U << 20;
constexpr std::uint64_t kMaxBufferBytes = std::uint64_t{1} << 34;
}  // namespace

void check(const Checks& at, const QueueConfig& queue) {
  at.in_range("limit_packets", queue.limit_packets, 1, kMaxQueuePackets, "packets");
  if (queue.limit_bytes)
    at.require(*queue.limit_bytes >= kLargestFrameBytes, "limit_bytes",
               std::to_string(*queue.limit_bytes) + " bytes",
               "cannot hold one " + std::to_string(kLargestFrameBytes) + " B frame");
  at.in_interval("weight", queue.weight, 0.01, 100, true);
  at.in_interval("alpha", queue.alpha, 1e-3, 1e3, true);
  if (queue.floor_rate) at.rate("floor_rate", *queue.floor_rate);
  at.in_range("floor_depth_bytes", queue.floor_depth_bytes, kLargestFrameBytes, kMaxBufferBytes,
              "bytes");
  at.in_range("reserved_bytes", queue.reserved_bytes, 0, kMaxBufferBytes, "bytes");
}

namespace {

void check_red(const Checks& at, const RedConfig& red) {
  at.in_interval("kmin_packets", red.kmin_packets, 0, kMaxQueuePackets, true);
  if (at.in_interval("kmax_packets", red.kmax_packets, 0, kMaxQueuePackets, false))
    at.require(red.kmax_packets > red.kmin_packets, "kmax_packets",
               std::to_string(red.kmax_packets), "must be above kmin_packets");
  at.in_interval("pmax", red.pmax, 0, 1, false);
  at.in_interval("weight", red.weight, 0, 1, false);
}

void check_pie(const Checks& at, const PieConfig& pie) {
  at.positive("target", pie.target);
  at.positive("update_interval", pie.update_interval);
  at.in_interval("alpha", pie.alpha, 0, 1e6, true);
  at.in_interval("beta", pie.beta, 0, 1e6, true);
  at.not_negative("burst_allowance", pie.burst_allowance);
  at.in_interval("mark_ecnth", pie.mark_ecnth, 0, 1, true);
}

void check_codel(const Checks& at, const CodelConfig& codel) {
  if (at.positive("target", codel.target))
    at.require(codel.interval >= codel.target, "interval", format_duration(codel.interval),
               "must not be shorter than target, " + format_duration(codel.target));
}

}  // namespace

void check(const Checks& at, const MarkerConfig& marker, const QueueConfig& queue) {
  check_red(at.below("red"), marker.red);
  check_pie(at.below("pie"), marker.pie);
  check_codel(at.below("codel"), marker.codel);
  if (marker.kind != MarkerKind::kStep) return;
  const auto check_threshold = [&](std::string_view key, std::uint32_t threshold) {
    if (at.in_range(key, threshold, 1, kMaxQueuePackets, "packets"))
      at.require(threshold < queue.limit_packets, key, std::to_string(threshold) + " packets",
                 "must be below the queue's limit_packets, " + std::to_string(queue.limit_packets));
  };
  check_threshold("threshold_packets", marker.threshold_packets);
  if (marker.ddl_threshold_packets)
    check_threshold("ddl_threshold_packets", *marker.ddl_threshold_packets);
}

void check(const Checks& at, const RegulationPolicy& policy) {
  at.positive("hold", policy.hold);
  at.positive("idle_end", policy.idle_end);
  at.positive("expiry", policy.expiry);
  at.in_interval("budget_share", policy.budget_share, 0, 1, false);
  at.positive("budget_window", policy.budget_window);
  at.in_interval("pace_floor", policy.pace_floor, 0, 1, true);
  at.in_range("max_entries", policy.max_entries, 1, 65536);
  if (policy.lead) at.not_negative("lead", *policy.lead);
  const auto within_expiry = [&](std::string_view key, Duration d) {
    at.require(d <= policy.expiry, key, format_duration(d),
               "must not be longer than expiry, " + format_duration(policy.expiry));
  };
  if (policy.recovery == Recovery::kTimer) within_expiry("hold", policy.hold);
  if (policy.recovery == Recovery::kBurstEnd) within_expiry("idle_end", policy.idle_end);
  at.require(!holds_windows(policy.mode) || policy.recovery != Recovery::kArrival, "recovery",
             "\"arrival\"", "must be \"burst_end\" or \"timer\" in a mode that holds windows");
  check(at.below("window"), policy.window);
  check(at.below("predict"), policy.predict);
  if (policy.predict.from == PredictFrom::kOff) return;
  at.require(policy.mode != RegulationMode::kOff, "mode", "\"off\"",
             "must regulate for [predict] to have an effect");
  if (!policy.lead)
    at.fault("lead", "must say how long before a predicted burst regulation begins");
}

}  // namespace outrider
