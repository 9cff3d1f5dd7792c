#include "switch/egress/parts/held_windows.h"

namespace outrider::sw {

HeldWindows::HeldWindows(const PortQueueConfig& config, const SwitchPortConfig& port,
                         PortQueue& queue)
    : queue_(queue),
      regulator_(queue.regulation().regulator()),
      window_(config.regulation.window, config.regulation.max_entries, port.drain_rate,
              port.rate_layer) {
  follow(config);
}

void HeldWindows::follow(const PortQueueConfig& config) noexcept {
  spares_held_ = row_of(config.regulation.mode).spares_held;
  measures_lead_ = outrider::measures_lead(config.regulation);
  standing_packets_ = standing_packets(config.queue, config.marker);
}

void HeldWindows::apply(PartChange* /*change*/, const PortQueueConfig& to, Time /*now*/) noexcept {
  follow(to);
}

/// The verdict stays with the packet, because marking may happen when it leaves.
[[gnu::flatten]] bool HeldWindows::on_admission(Packet& packet, Time now) noexcept {
  set_treatment(meta(packet), window_.on_arrival(packet, waiting(), threshold(now), now));
  return false;
}

bool HeldWindows::spares(const PacketMeta& m, MarkReason reason) noexcept {
  const WindowTreatment treatment = treatment_of(m);
  if (reason == MarkReason::kMarker) {
    if (treatment != WindowTreatment::kHeld) return false;
    window_.note_spared_mark();
    return true;
  }
  return treatment == WindowTreatment::kHeld ||
         (spares_held_ &&
          (m.traffic_class == TrafficClass::kDdl || treatment != WindowTreatment::kFallback));
}

bool HeldWindows::takes_start(const StartSignal& start, Time now) noexcept {
  if (measures_lead_) measure_lead(start.threshold_packets, now);
  return false;
}

void HeldWindows::on_armed(const StartSignal& /*start*/, Time now) noexcept {
  window_.on_announced(now);
  static_cast<void>(threshold(now));
}

[[gnu::flatten]] bool HeldWindows::on_return(Packet& packet, Time now) noexcept {
  window_.on_return(packet, waiting(), threshold(now), now);
  return false;
}

/// The verdict is on background, and this is none. Windows leave a burst no room on another link.
void HeldWindows::on_elsewhere(Packet& packet, bool same_port, Time now) noexcept {
  if (same_port) static_cast<void>(window_.on_arrival(packet, waiting(), threshold(now), now));
}

/// The lead that is measured is in force for this START and later ones. While windows are held or
/// open again, the last one before them stays in force.
void HeldWindows::measure_lead(std::uint16_t h_packets, Time now) noexcept {
  if (const auto measured = window_.lead(h_packets, standing_packets_, now))
    regulator_.set_lead(measured->lead);
}

std::optional<Duration> HeldWindows::lead_for(const FlowKey& flow, Time now) noexcept {
  if (!measures_lead_ || regulator_.standing_of(flow, 0, now) == Regulator::Standing::kNone)
    return std::nullopt;
  if (regulator_.lead()) window_.note_told_lead();
  return regulator_.lead();
}

void HeldWindows::on_begun(Time now) noexcept {
  regulator_.tell_begun([this, now](const Regulator::BegunBurst& burst) { begin(burst, now); });
}

/// Nothing announces a predicted burst, so the lead of the next one is measured here.
void HeldWindows::begin(const Regulator::BegunBurst& burst, Time now) noexcept {
  if (burst.predicted && measures_lead_)
    if (const auto& h = regulator_.threshold(now)) measure_lead(*h, now);
  if (burst.predicted) window_.on_prediction(burst.flow.destination_address, burst.bytes, now);
  else window_.on_start(burst.flow, burst.sequence, burst.bytes, now);
}

void HeldWindows::count(QueueCounts& to, std::size_t /*queue*/, Time /*now*/) const {
  to.window = window_.counters();
}

}  // namespace outrider::sw
