#pragma once

#include <chrono>

#include "trafficgen/config/config.h"

namespace outrider::tg {

/// What the bounded-loss transport takes of TCP's settings.
inline TcpConfig full_mlt_tcp() {
  return {.control = {.controller = Controller::kDctcp, .initial_window_segments = 4},
          .obey_ece = false,
          .priority = 2};
}

inline MltConfig full_mlt() {
  using namespace std::chrono_literals;
  return {.tolerance_push = 0.25,
          .tolerance_pull = 0.125,
          .probe_timeout = 2ms,
          .probe_limit = 7,
          .feedback_packets = 4,
          .class_dscps = {46, 10},
          .front_share = 0.375,
          .small_share = 0.5,
          .order = PacketOrder::kRandom,
          .magnitudes = Magnitudes::kGradient};
}

inline RoceConfig full_roce() {
  using namespace std::chrono_literals;
  return {.operation = roce::Operation::kSend,
          .repair = RoceRepair::kSelective,
          .window_packets = 256,
          .ack_packets = 4,
          .timeout = 5ms,
          .retry_limit = 3,
          .rnr_retry = 2,
          .cnp_interval = 40us,
          .cnp_delay = 30us,
          .dscp = 26,
          .cnp_dscp = 46,
          .cnp_priority = 6,
          .dcqcn = {.g = 0.25,
                    .alpha_timer = 60us,
                    .increase_timer = 70us,
                    .increase_bytes = 1'000'000,
                    .recovery_stages = 3,
                    .additive_increase = BitRate{5'000'000},
                    .hyper_increase = BitRate{50'000'000},
                    .least_rate = BitRate{1'000'000}}};
}

inline RoceConfig full_swift() {
  using namespace std::chrono_literals;
  return {.controller = RoceController::kSwift,
          .swift = {.base_target = 30us,
                    .scaling_range = 60us,
                    .scaling_least_window = 0.5,
                    .scaling_most_window = 50}};
}

inline RoceConfig full_hpcc() {
  using namespace std::chrono_literals;
  return {.controller = RoceController::kHpcc,
          .hpcc = {.eta = 0.9, .max_stage = 3, .additive_bytes = 160, .base_rtt = 15us}};
}

/// No member has its default but `sack`, which RACK-TLP needs, and `mltcp`, which is not DCTCP's.
inline TcpConfig full_transport() {
  using namespace std::chrono_literals;
  return {.control = {.controller = Controller::kDctcp,
                      .initial_window_segments = 4,
                      .dctcp_min_window_segments = 1,
                      .hystart = HyStartKind::kRfc9406,
                      .hystart_min_rtt_threshold = 10us,
                      .idle_restart = IdleRestart::kLinux,
                      .timely_t_low = 20us,
                      .timely_t_high = 200us,
                      .timely_step = BitRate{20'000'000}},
          .mss_bytes = 1400,
          .stack = TcpStack::kLinux,
          .ecn = true,
          .obey_ece = false,
          .priority = 4,
          .reuse = ConnectionReuse::kNew,
          .min_rto = 10ms,
          .rto = RtoRule::kLinux,
          .initial_rto = 20ms,
          .max_rto = 3s,
          .delayed_ack = 1ms,
          .ack_every_segments = 1,
          .quick_acks = 3,
          .receive_buffer_bytes = 65'536,
          .read_rate = BitRate{1'000'000},
          .pacing = true,
          .loss_detection = LossDetection::kRackTlp,
          .tail_probe = TailProbe::kLinux,
          .reduction = WindowReduction::kPrr,
          .ssthresh_base = SsthreshBase::kWindow,
          .lost_retransmission = LostRetransmission::kLinux,
          .window_validation = WindowUse::kLinux,
          .segment_bursts = SegmentJoining::kLinux,
          .time_wait = 2s,
          .timestamps = true};
}

}  // namespace outrider::tg
