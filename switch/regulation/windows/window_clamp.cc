#include "switch/regulation/windows/window_clamp.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace outrider {

WindowClamp::WindowClamp(const WindowPolicy& policy, BitRate drain_rate,
                         std::uint32_t overhead_bytes, std::uint32_t max_bursts,
                         Bottleneck bottleneck)
    : state_{.policy = policy,
             .path = {.bytes_per_ns = static_cast<double>(drain_rate.bits_per_second) / 8e9,
                      .overhead_bytes = overhead_bytes,
                      .base_rtt = policy.base_rtt},
             .remote = bottleneck == Bottleneck::kRemote,
             .phase{HoldPhase(max_bursts)},
             .rounds{}},
      flows_(policy.max_flows) {
  assert(state_.path.bytes_per_ns > 0 && policy.standing_clamp >= 1 && policy.floor < 1 &&
         policy.least_segments >= 1);
}

// -- What passes

void WindowClamp::move_on(const Queue& queue, Time now) noexcept {
  flows_.counters().releases += state_.phase.move_on(state_.path, state_.rounds, queue, now);
}

void WindowClamp::on_start(const FlowKey& flow, std::uint32_t announced_sequence,
                           std::uint64_t bytes, Time now) noexcept {
  flows_.counters().bursts_refused += !state_.phase.on_start(flow, announced_sequence, bytes, now);
}

void WindowClamp::on_prediction(std::uint32_t address, std::uint64_t bytes, Time now) noexcept {
  flows_.counters().bursts_refused += !state_.phase.on_prediction(address, bytes, now);
}

void WindowClamp::on_burst_payload(const FlowKey& flow, std::uint32_t sequence, std::uint32_t bytes,
                                   const Queue& queue, Time now) noexcept {
  state_.phase.on_burst_payload(flow, sequence, bytes);
  follow(queue, now);
}

WindowTreatment WindowClamp::on_data(const TcpView& s, const Queue& queue, Time now) noexcept {
  if (!s.syn)
    if (WindowFlow* open = open_flow(s.flow)) return on_open_data(*open, s, queue, now);
  follow(queue, now);
  const auto [f, fresh] = flows_.take_data(s, now, timed_from(state_, queue, now));
  if (f == nullptr) return WindowTreatment::kFallback;
  const WindowTreatment treatment = treat(*f, fresh, queue, now);
  return f->known() ? treatment : WindowTreatment::kFallback;
}

std::optional<std::uint16_t> WindowClamp::on_answer(const TcpView& s, const Queue& queue,
                                                    Time now) noexcept {
  if (s.ack && !s.syn && !s.rst)
    if (WindowFlow* open = open_flow(s.flow.reversed()))
      return on_open_answer(*open, s, queue, now);
  follow(queue, now);
  const auto [f, field] = flows_.take_answer(s, now);
  if (f == nullptr) return field;
  note_answer(*f, state_.path.rtt_ns(*f), now);
  return flows_.tell(*f, WindowAnswer(s), target_of(state_, *f, queue, now));
}

// -- How early

/// Small flows are not held, so what they were told does not have to drain. With `strict`, whole
/// paths are left out: lead costs background a path there. Windows that have not opened yet after a
/// burst count as they will stand.
void WindowClamp::note_told(const WindowFlow& f, double own_rtt_ns) noexcept {
  if (f.sent_less_than(state_.path.pipe_bytes(f, own_rtt_ns))) return;
  const double standing = state_.policy.standing_clamp * f.largest_flight();
  const double told = static_cast<double>(std::uint32_t{f.told_window} << f.scale());
  const bool counts_paths = state_.policy.rule == WindowRule::kComplement;
  state_.rounds.add_told((counts_paths ? std::max(told, standing) : standing) /
                             f.payload_share(state_.path.overhead_bytes),
                         f.segment_frame_bytes + state_.path.overhead_bytes, own_rtt_ns);
}

std::optional<WindowLead> WindowClamp::lead(double h_packets, double standing_packets,
                                            Time now) noexcept {
  if (!state_.phase.standing()) return std::nullopt;
  const ToldWindows told = state_.rounds.told(now);
  if (told.flows == 0) return WindowLead{};
  const double frame_bytes = told.frame_bytes / told.flows;
  const WindowLead lead =
      window_lead({.rate = {static_cast<std::uint64_t>(state_.path.bytes_per_ns * 8e9)},
                   .rtt = round_trips(1, told.rtt_ns / told.flows),
                   .packet_bytes = static_cast<std::uint32_t>(std::lround(frame_bytes)),
                   .standing_packets = standing_packets,
                   .h_packets = h_packets,
                   .flows = told.flows,
                   .standing_clamp = state_.policy.standing_clamp,
                   .least_segments = state_.policy.least_segments,
                   .told_packets = told.queue_bytes / frame_bytes});
  flows_.counters().starts_beyond_lead += lead.kept_share > WindowLead::kMostKept;
  return lead;
}

// -- What waits in a queue further on

std::uint64_t WindowClamp::remote_backlog_bytes(Time now) noexcept {
  const Duration wait = wait_.shortest(state_.rounds.rtt_ns(), now);
  return static_cast<std::uint64_t>(static_cast<double>(wait.count()) * state_.path.bytes_per_ns);
}

std::uint64_t WindowClamp::in_flight_bytes() const noexcept {
  std::uint64_t bytes = 0;
  flows_.for_each([&bytes](const WindowFlow& f) {
    if (f.known() && !f.closing) bytes += f.passed_unacknowledged();
  });
  return bytes;
}

}  // namespace outrider
