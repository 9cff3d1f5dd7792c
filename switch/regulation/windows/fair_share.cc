#include "switch/regulation/windows/fair_share.h"

#include <cassert>
#include <cmath>

namespace outrider {

FairShare::FairShare(const WindowPolicy& policy, BitRate drain_rate, std::uint32_t overhead_bytes,
                     std::uint16_t h_packets)
    : policy_(policy),
      bytes_per_ns_(static_cast<double>(drain_rate.bits_per_second) / 8e9),
      overhead_bytes_(overhead_bytes),
      h_packets_(h_packets),
      flows_(policy.max_flows) {
  assert(bytes_per_ns_ > 0 && policy.least_segments >= 1);
}

void FairShare::on_data(const TcpView& s, std::uint64_t waiting_bytes, Time now) noexcept {
  const double drains_ns = static_cast<double>(waiting_bytes) / bytes_per_ns_;
  const Time departs = now + Duration{static_cast<std::int64_t>(drains_ns)};
  WindowFlow* const f = flows_.take_data(s, now, departs).flow;
  if (f != nullptr && s.payload_bytes > 0) note_active(*f, now);
}

/// Returns the length of a round. Held flows send once per round trip, queueing included: shorter
/// rounds would miss some where h is long against the path.
Duration FairShare::round() const noexcept {
  const double h_ns =
      h_packets_ * (WindowFlow::kDefaultSegment_bytes + overhead_bytes_) / bytes_per_ns_;
  return Duration{static_cast<std::int64_t>(kRound_rtts * (rtt_ns_ + h_ns))};
}

/// Counts the flow once per round.
void FairShare::note_active(WindowFlow& f, Time now) noexcept {
  if (rtt_ns_ != 0 && now - round_began_ >= round()) {
    const bool is_next = now - round_began_ < 2 * round();
    active_last_ = is_next ? active_now_ : 0;
    active_now_ = 0;
    round_began_ = now;
    ++round_;
  }
  if (f.summed_round == round_) return;
  f.summed_round = round_;
  ++active_now_;
}

std::optional<std::uint16_t> FairShare::on_answer(const TcpView& s, Time now) noexcept {
  const auto [f, field] = flows_.take_answer(s, now);
  if (f == nullptr) return field;
  const double own_ns = rtt_ns(*f);
  rtt_ns_ = rtt_ns_ == 0 ? own_ns : rtt_ns_ + kRttSmoothing * (own_ns - rtt_ns_);
  return flows_.tell(*f, WindowAnswer(s), target(*f));
}

/// @pre the flow is known
double FairShare::rtt_ns(const WindowFlow& f) const noexcept {
  assert(f.base_rtt());
  const bool given = policy_.base_rtt > Duration::zero();
  return static_cast<double>((given ? policy_.base_rtt : *f.base_rtt()).count());
}

/// Whole segments, rounded up, because a sender sends only whole segments.
WindowTarget FairShare::target(const WindowFlow& f) const noexcept {
  const double segment = f.segment_bytes != 0 ? f.segment_bytes : WindowFlow::kDefaultSegment_bytes;
  const double path = bytes_per_ns_ * rtt_ns(f) * f.payload_share(overhead_bytes_);
  const double share = (path + h_packets_ * segment) / active_flows();
  const double segments =
      std::max(std::ceil(share / segment), static_cast<double>(policy_.least_segments));
  const double window = segments * segment;
  if (f.recovering()) return {kRecoveryRoom * window, WindowReason::kRecovery};
  return {window, WindowReason::kHeld};
}

}  // namespace outrider
