#pragma once

#include "trafficgen/transport/base/tcp_config.h"

namespace outrider::tg {

/// Makes a stack's choices the settings of a transport: all settings in which the stacks differ,
/// and no others. docs/generator.md has their sources.
inline void use_stack(TcpConfig& c, TcpStack stack) noexcept {
  const TcpConfig rfc;
  const bool like_linux = stack == TcpStack::kLinux;
  const bool cubic = c.control.controller == Controller::kCubic;
  c.stack = stack;
  c.loss_detection = like_linux ? LossDetection::kRackTlp : rfc.loss_detection;
  c.tail_probe = like_linux ? TailProbe::kLinux : rfc.tail_probe;
  c.reduction = like_linux ? WindowReduction::kPrr : rfc.reduction;
  c.ssthresh_base = like_linux ? SsthreshBase::kWindow : rfc.ssthresh_base;
  c.lost_retransmission = like_linux ? LostRetransmission::kLinux : rfc.lost_retransmission;
  c.window_validation = like_linux ? WindowUse::kLinux : rfc.window_validation;
  c.segment_bursts = like_linux ? SegmentJoining::kLinux : rfc.segment_bursts;
  c.control.hystart = like_linux && cubic ? HyStartKind::kLinux : rfc.control.hystart;
  c.control.initial_window_segments =
      like_linux ? std::optional(10U) : rfc.control.initial_window_segments;
  c.control.idle_restart = like_linux ? IdleRestart::kLinux : rfc.control.idle_restart;
  c.rto = like_linux ? RtoRule::kLinux : rfc.rto;
  c.timestamps = like_linux || rfc.timestamps;
  c.quick_acks = like_linux ? 16 : rfc.quick_acks;
  c.max_rto = like_linux ? std::chrono::seconds(120) : rfc.max_rto;
}

}  // namespace outrider::tg
