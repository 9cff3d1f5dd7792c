#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"
#include "common/core/units.h"
#include "switch/aqm/pi_gains.h"
#include "switch/aqm/red_marker.h"
#include "switch/aqm/scheduler.h"
#include "switch/config/lossless_config.h"
#include "switch/regulation/policy/regulation_policy.h"

namespace outrider::sw {

inline constexpr std::uint32_t kMinMtuBytes = 68;  ///< RFC 791
inline constexpr std::uint32_t kMaxMtuBytes = 9000;
/// Ethernet header and IP packet; the largest frame also counts the FCS. Every queue has room
/// for one.
inline constexpr std::uint32_t kFullFrameBytes = 1514;
inline constexpr std::uint32_t kLargestFrameBytes = 18 + kMaxMtuBytes;
inline constexpr std::uint64_t kMaxQueuePackets = 1U << 20;  ///< limit of a queue, or of a port

enum class MarkerKind : std::uint8_t { kTailDrop, kStep, kRed, kPie, kPi2, kCodel };
enum class MarkAt : std::uint8_t { kEnqueue, kDequeue };
/// Says whether a Not-ECT packet passes or is dropped where an ECT packet would be marked.
enum class NotEct : std::uint8_t { kPass, kDrop };
/// The packets that a step compares with K.
enum class StepOccupancy : std::uint8_t {
  kOwn,           ///< those that wait in the queue itself
  kOwnAndHigher,  ///< and those in the port's queues with lower numbers, see QueueMarker
};

/// Parameters of random early detection (RED), see red_marker.h. Occupancies in packets.
struct RedConfig {
  double kmin_packets = 20;
  double kmax_packets = 60;
  double pmax = 0.1;
  double weight = 1;  ///< of a new value in the average; 1: instantaneous occupancy
  RedSpacing spacing = RedSpacing::kIndependent;
};

/// Parameters of PIE (RFC 8033), see pie_marker.h. The others follow from the target: gains_of(),
/// burst_allowance_of().
struct PieConfig {
  Duration target = std::chrono::milliseconds(15);
  double mark_ecnth = 0.1;  ///< above this probability ECT packets are dropped as well
};

/// Parameters of PI2 for one queue (RFC 9332), see pi2_marker.h. Its gains follow from the target.
struct Pi2Config {
  Duration target = std::chrono::milliseconds(15);
};

/// Parameters of CoDel (RFC 8289), see codel_marker.h.
struct CodelConfig {
  Duration target = std::chrono::milliseconds(5);
  Duration interval = std::chrono::milliseconds(100);
};

inline PiGains gains_of(const PieConfig& pie) noexcept {
  return scaled_gains(kPieReference, pie.target);
}
inline PiGains gains_of(const Pi2Config& pi2) noexcept {
  return scaled_gains(kPi2Reference, pi2.target);
}
/// RFC 8033, section 4.4: MAX_BURST is 150 ms at a target of 15 ms.
constexpr Duration burst_allowance_of(const PieConfig& pie) noexcept { return 10 * pie.target; }

struct MarkerConfig {
  MarkerKind kind = MarkerKind::kStep;
  /// When step, RED and the regulated threshold judge the occupancy. PIE always judges at
  /// enqueue, PI2 and CoDel at dequeue, as their RFCs define them.
  MarkAt at = MarkAt::kEnqueue;
  std::optional<NotEct> not_ect{};       ///< absent: step passes them, the others drop
  std::uint32_t threshold_packets = 40;  ///< step: K; >= 1
  /// K of all but DDL data (the static pair); absent: threshold_packets
  std::optional<std::uint32_t> background_threshold_packets{};
  StepOccupancy occupancy = StepOccupancy::kOwn;
  RedConfig red{};
  PieConfig pie{};
  Pi2Config pi2{};
  CodelConfig codel{};
};

/// Returns what the marker does with Not-ECT packets, with the default resolved.
constexpr NotEct not_ect_of(const MarkerConfig& marker) noexcept {
  return marker.not_ect.value_or(marker.kind == MarkerKind::kStep ? NotEct::kPass : NotEct::kDrop);
}

/// Lets the first bytes of a queue's flows go to another queue, see flow_demotion.h.
struct DemotionConfig {
  /// Payload of a flow that goes there; absent: all flows go to their own queue
  std::optional<std::uint64_t> after_bytes{};
  std::uint32_t from_queue = 0;                   ///< of the port
  Duration idle = std::chrono::milliseconds(10);  ///< a flow begins anew after so much silence
  std::uint32_t max_flows = 16'384;               ///< that are followed, >= 1
};

struct QueueConfig {
  std::uint32_t limit_packets = 60;            ///< waiting packets, >= 1
  std::optional<std::uint64_t> limit_bytes{};  ///< frame bytes; absent: no limit in bytes
  double weight = 1;                           ///< scheduler "dwrr": share of the link, > 0
  std::optional<BitRate> floor_rate{};         ///< scheduler "strict_floor": guaranteed L2 rate
  std::uint64_t floor_depth_bytes = 18'036;    ///< its token bucket's depth: two jumbo frames
  double alpha = 1;                            ///< shared buffer: factor of the free bytes, > 0
  std::uint64_t reserved_bytes = 0;            ///< shared buffer: reserved for this queue
  DemotionConfig demotion{};
  LosslessConfig lossless{};
};

/// Configures one of a port's queues. Without [[switch.port.queues]] a port has one queue,
/// which takes the port's own `queue`, `marker` and `regulation`.
struct PortQueueConfig {
  QueueConfig queue{};
  MarkerConfig marker{};
  RegulationPolicy regulation{};
};

/// Returns the queue up to which background that heeds marks may stand: the threshold, or the limit
/// if the marker has none.
double standing_packets(const QueueConfig& queue, const MarkerConfig& marker) noexcept;

// Bindings, see common/config/config_binding.h.

inline constexpr auto kMarkerKinds = choices<MarkerKind>({{"tail_drop", MarkerKind::kTailDrop},
                                                          {"step", MarkerKind::kStep},
                                                          {"red", MarkerKind::kRed},
                                                          {"pie", MarkerKind::kPie},
                                                          {"pi2", MarkerKind::kPi2},
                                                          {"codel", MarkerKind::kCodel}});
inline constexpr auto kMarkAtNames =
    choices<MarkAt>({{"enqueue", MarkAt::kEnqueue}, {"dequeue", MarkAt::kDequeue}});
inline constexpr auto kNotEctNames =
    choices<NotEct>({{"pass", NotEct::kPass}, {"drop", NotEct::kDrop}});
inline constexpr auto kStepOccupancies = choices<StepOccupancy>(
    {{"own", StepOccupancy::kOwn}, {"own_and_higher", StepOccupancy::kOwnAndHigher}});
inline constexpr auto kRedSpacings = choices<RedSpacing>(
    {{"independent", RedSpacing::kIndependent}, {"uniform", RedSpacing::kUniform}});
inline constexpr auto kSchedulers =
    choices<SchedulerKind>({{"strict", SchedulerKind::kStrict},
                            {"dwrr", SchedulerKind::kDwrr},
                            {"strict_floor", SchedulerKind::kStrictFloor}});

void describe(Settings& v, DemotionConfig& c);
void describe(Settings& v, QueueConfig& c);
void describe(Settings& v, RedConfig& c);
void describe(Settings& v, PieConfig& c);
void describe(Settings& v, Pi2Config& c);
void describe(Settings& v, CodelConfig& c);
void describe(Settings& v, MarkerConfig& c);
void describe(Settings& v, PortQueueConfig& c);

/// Checks the rules that join several settings. Ranges of single settings are in describe().
void check(const Checks& at, const MarkerConfig& marker, const QueueConfig& queue);

}  // namespace outrider::sw
