#include "trafficgen/roce/roce_config.h"

#include <string>

namespace outrider::tg {

namespace {
constexpr std::uint64_t kMaxWindowPackets = 1U << 16;  // far below half of the PSNs
constexpr std::uint64_t kMaxRetries = 1000;
constexpr std::uint64_t kMaxStages = 1000;
constexpr std::uint64_t kMostDscp = 63;
constexpr Duration kMostCnpDelay = std::chrono::microseconds(100);
constexpr std::int64_t kMostWaitingCnps = 128;  ///< of a queue pair: it is memory
constexpr std::uint64_t kMostAdditiveBytes = 1U << 20;
/// Hops' times wrap after 16.8 ms.
constexpr Duration kMostBaseRtt = std::chrono::milliseconds(4);
static_assert(kMostBaseRtt < roce::kTelemetryWrap / 4);
}  // namespace

void check(const Checks& at, const DcqcnConfig& dcqcn) {
  at.require(dcqcn.g > 0 && dcqcn.g < 1, "g", std::to_string(dcqcn.g),
             "must be above 0 and below 1");
}

void check(const Checks& at, const SwiftConfig& swift) {
  at.require(swift.scaling_least_window < swift.scaling_most_window, "scaling_least_window",
             std::to_string(swift.scaling_least_window),
             "must be below scaling_most_window, " + std::to_string(swift.scaling_most_window));
}

namespace {
/// The tables of controllers act with their controller alone.
void check_controllers(const Checks& at, const RoceConfig& roce) {
  if (roce.controller != RoceController::kDcqcn && roce.dcqcn != DcqcnConfig{})
    at.fault("dcqcn", "needs controller \"dcqcn\"");
  if (roce.controller != RoceController::kSwift && roce.swift != SwiftConfig{})
    at.fault("swift", "needs controller \"swift\"");
  if (roce.controller != RoceController::kHpcc && roce.hpcc != HpccConfig{})
    at.fault("hpcc", "needs controller \"hpcc\"");
  const bool hpcc = roce.controller == RoceController::kHpcc;
  if (hpcc || roce.controller == RoceController::kSwift)
    at.require(roce.ack_packets == RoceConfig{}.ack_packets, "ack_packets",
               std::to_string(roce.ack_packets),
               std::string("has no use with controller \"") + (hpcc ? "hpcc" : "swift") +
                   "\", which has every packet acknowledged");
  check(at.below("dcqcn"), roce.dcqcn);
  check(at.below("swift"), roce.swift);
}
}  // namespace

void check(const Checks& at, const RoceConfig& roce) {
  at.require(roce.ack_packets <= roce.window_packets, "ack_packets",
             std::to_string(roce.ack_packets),
             "must be at most window_packets, " + std::to_string(roce.window_packets) +
                 ": an ACK must come before the window is full");
  at.require(roce.cnp_interval <= Duration{} ||  // its own fault
                 roce.cnp_delay / roce.cnp_interval < kMostWaitingCnps,
             "cnp_delay", std::to_string(roce.cnp_delay.count()) + " ns",
             "must be below " + std::to_string(kMostWaitingCnps) +
                 " times cnp_interval: so many CNPs of a queue pair may wait for it");
  check_controllers(at, roce);
}

void describe(Settings& v, SwiftConfig& c) {
  v.duration("base_target", c.base_target,
             {.range = durations_above_zero(),
              .help = "round trip that a large window is to reach, path and queues included"});
  v.duration("scaling_range", c.scaling_range,
             {.help = "most that flow scaling adds to the target"});
  v.value("scaling_least_window", c.scaling_least_window,
          {.range = reals_above(0, kMaxWindowPackets),
           .accepts = "above 0, below `scaling_most_window`",
           .help = "windows up to this, in packets, have all of the range"});
  v.value("scaling_most_window", c.scaling_most_window,
          {.range = reals_above(0, kMaxWindowPackets),
           .help = "windows from this on have nothing of it"});
}

void describe(Settings& v, HpccConfig& c) {
  v.share("eta", c.eta,
          {.range = reals_above(0, 1), .help = "use of the most used link that is wanted"});
  v.value("max_stage", c.max_stage,
          {.range = integers(0, kMaxStages),
           .help = "steps in a row by which the window grows by `additive_bytes`, before it grows "
                   "to what the links have left"});
  v.bytes("additive_bytes", c.additive_bytes,
          {.range = integers(1, kMostAdditiveBytes),
           .help = "W_AI: what such a step adds to the window. The paper's rule: rate x `base_rtt` "
                   "x (1 - `eta`) / flows at a link"});
  v.duration("base_rtt", c.base_rtt,
             {.range = durations_up_to(kMostBaseRtt),
              .help = "T: a little more than the longest round trip of an empty path. The first "
                      "window is what the NIC sends in it"});
}

void describe(Settings& v, DcqcnConfig& c) {
  v.share("g", c.g, {.accepts = "above 0, below 1", .help = "weight of a new sample in alpha"});
  v.duration("alpha_timer", c.alpha_timer,
             {.range = durations_above_zero(), .help = "time without a CNP that lowers alpha"});
  v.duration("increase_timer", c.increase_timer,
             {.range = durations_above_zero(), .help = "T: time from one increase to the next"});
  v.bytes("increase_bytes", c.increase_bytes,
          {.range = integers(1, std::uint64_t{1} << 40),
           .help = "B: bytes sent from one increase to the next"});
  v.value("recovery_stages", c.recovery_stages,
          {.range = integers(1, kMaxStages), .help = "F: increases of fast recovery"});
  v.rate("additive_increase", c.additive_increase,
         {.range = link_rates(), .help = "R_AI: what the target gains in an increase after these"});
  v.rate("hyper_increase", c.hyper_increase,
         {.range = link_rates(), .help = "R_HAI: the same after both have counted F increases"});
  v.rate("least_rate", c.least_rate, {.range = link_rates(), .help = "no CNP lowers it further"});
}

void describe(Settings& v, RoceConfig& c) {
  v.choice("operation", c.operation, kRoceOperations,
           {.help = "that carries bursts: RDMA WRITE, or [SEND](roce.md#on-the-wire)"});
  v.choice("repair", c.repair, kRoceRepairs,
           {.help = "of lost packets: all from the first gap on are sent again, as InfiniBand "
                    "does, or [what is missing](roce.md#selective-repeat)"});
  v.choice("controller", c.controller, kRoceControllers,
           {.help = "of a queue pair's rate: [DCQCN](roce.md#dcqcn), none (it is the NIC's), "
                    "[HPCC](roce.md#hpcc), or [Swift](roce.md#swift)"});
  v.value("window_packets", c.window_packets,
          {.range = integers(1, kMaxWindowPackets),
           .help = "data packets that are sent and not acknowledged, at most"});
  v.value(
      "ack_packets", c.ack_packets,
      {.range = integers(1, kMaxWindowPackets),
       .accepts = "at most `window_packets`",
       .help =
           "data packets from one ACK to the next; a message's last one is always "
           "acknowledged. No use with `hpcc` and `swift`, which have every packet acknowledged"});
  v.duration("timeout", c.timeout,
             {.range = durations_above_zero(),
              .help = "silence after which what is not acknowledged is sent again. InfiniBand has "
                      "4.096 us times a power of two; 67 ms is the 14th"});
  v.value("retry_limit", c.retry_limit,
          {.range = integers(0, kMaxRetries),
           .help = "such silences in a row before the queue pair gives up"});
  v.value(
      "rnr_retry", c.rnr_retry,
      {.range = integers(0, kNoRnrLimit),
       .help = "times in a row that a queue pair sends again to a receiver that is not ready "
               "(RNR NAK), after the wait that the NAK names; 7: any number, as in InfiniBand"});
  v.duration("cnp_interval", c.cnp_interval,
             {.range = durations_above_zero(),
              .help = "shortest time from one CNP of a queue pair to its next"});
  v.duration("cnp_delay", c.cnp_delay,
             {.range = durations(Duration{}, kMostCnpDelay),
              .help = "from a packet with CE to the CNP that it makes, as NICs take for it"});
  v.value("dscp", c.dscp,
          {.range = integers(0, kMostDscp), .help = "of data and acknowledgments, which are ECT"});
  v.value("cnp_dscp", c.cnp_dscp, {.range = integers(0, kMostDscp), .help = "of CNPs"});
  v.value("cnp_priority", c.cnp_priority,
          {.range = integers(0, 7),
           .absent = "that of the transport",
           .help = "priority whose [pause frames](pfc.md#hosts) stop CNPs. If it is given, CNPs "
                   "have turns of their own at the NIC"});
  v.table("dcqcn", c.dcqcn);
  v.table("swift", c.swift);
  v.table("hpcc", c.hpcc);
}

}  // namespace outrider::tg
