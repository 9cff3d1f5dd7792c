#include "switch/egress/parts/remote_bottlenecks.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "common/config/addresses.h"
#include "switch/egress/reload_change.h"
#include "switch/forwarding/header_rewrite.h"

namespace outrider::sw {
namespace {

/// The round trips through it are measured, whatever is set for those through the port's queue.
WindowPolicy window_of(const RegulationPolicy& policy) {
  WindowPolicy window = policy.window;
  window.base_rtt = {};
  return window;
}

/// A packet that passes two of them counts as held if one of them holds it.
WindowTreatment stronger(WindowTreatment a, WindowTreatment b) noexcept { return std::max(a, b); }
static_assert(WindowTreatment::kFallback < WindowTreatment::kControlled &&
              WindowTreatment::kControlled < WindowTreatment::kHeld);

}  // namespace

// -- One

RemoteBottleneck::RemoteBottleneck(const RemotePolicy& remote, const RegulationPolicy& policy,
                                   RateLayer layer)
    : name_(remote.name),
      regulator_(policy),
      window_(window_of(policy), policy.max_entries, remote.rate, layer,
              WindowClamp::Bottleneck::kRemote) {}

/// Returns h while it is regulated, after telling the windows which bursts' regulation has begun.
std::optional<std::uint16_t> RemoteBottleneck::threshold(Time now) noexcept {
  const auto threshold = regulator_.threshold(now);
  regulator_.tell_begun([this, now](const Regulator::BegunBurst& burst) {
    if (burst.predicted) window_.on_prediction(burst.flow.destination_address, burst.bytes, now);
    else window_.on_start(burst.flow, burst.sequence, burst.bytes, now);
  });
  return threshold;
}

void RemoteBottleneck::on_start(const StartSignal& start, Time now) noexcept {
  if (regulator_.on_start(start, now) != ArmVerdict::kArmed) return;
  window_.on_announced(now);
  static_cast<void>(threshold(now));
}

WindowTreatment RemoteBottleneck::on_arrival(Packet& packet, Time now) noexcept {
  const PacketMeta& m = meta(packet);
  if (m.traffic_class == TrafficClass::kDdl && m.payload_bytes > 0 &&
      regulator_.concerns(m.flow, now))
    regulator_.on_payload(m.flow, m.sequence, m.payload_bytes, ends_stream(m), now,
                          m.notes.source_accepted);
  return window_.on_arrival(packet, window_.remote_backlog(now), threshold(now), now);
}

void RemoteBottleneck::on_return(Packet& packet, Time now) noexcept {
  window_.on_return(packet, window_.remote_backlog(now), threshold(now), now);
}

void RemoteBottleneck::add_to(RemoteCounts& sums) const noexcept {
  const WindowCounters& n = window_.counters();
  sums.starts_armed += regulator_.counters().starts_armed;
  sums.entries_left += regulator_.live_entries();
  sums.answers += sum(n.answers);
  sums.held += n.answers[WindowReason::kHeld];
  sums.rewritten += n.rewritten;
  sums.in_flight_bytes += window_.in_flight_bytes();
  sums.flows_without_answers += n.flows_without_answers;
}

RemoteReport RemoteBottleneck::report(Time now) const {
  return {.name = name_,
          .regulator = regulator_.counters(),
          .entries_left = regulator_.live_entries(),
          .regulated_ns = regulator_.regulated(now).count(),
          .window = window_.counters(),
          .in_flight_bytes = window_.in_flight_bytes()};
}

// -- All of a port

namespace {

struct RemoteChange final : PartChange {
  std::vector<RegulationPolicy> policies;  ///< one for each
};

/// Returns the policy for each of them.
std::vector<RegulationPolicy> policies_of(const PortQueueConfig& config,
                                          const SignerShares& signers) {
  std::vector<RegulationPolicy> policies;
  for (const auto& remote : config.regulation.window.beyond)
    policies.push_back(policy_of(config, remote.rate, signers));
  return policies;
}

}  // namespace

RemoteBottlenecks::RemoteBottlenecks(const PortQueueConfig& config, RateLayer layer,
                                     const SignerShares& signers) {
  const auto& remotes = config.regulation.window.beyond;
  const auto policies = policies_of(config, signers);
  assert(remotes.size() <= kMost);
  std::vector<std::pair<Prefix, Set>> prefixes;
  for (std::size_t i = 0; i < remotes.size(); ++i) {
    all_.emplace_back(remotes[i], policies[i], layer);
    for (const auto& text : remotes[i].destinations)
      prefixes.emplace_back(*parse_prefix(text).value, static_cast<Set>(1U << i));
  }
  // The longest prefix alone answers, so it says what shorter ones around it say as well.
  for (const auto& [prefix, own] : prefixes) {
    Set set = own;
    for (const auto& [other, bit] : prefixes)
      if (other.length <= prefix.length && other.contains(prefix.address)) set |= bit;
    sets_.insert(prefix.address, prefix.length, set);
  }
}

bool RemoteBottlenecks::takes_start(const StartSignal& start, Time now) noexcept {
  const Set set = remote_of(start.flow.destination_address);
  for (Set left = set; left != 0; left &= static_cast<Set>(left - 1))
    all_[static_cast<std::size_t>(std::countr_zero(left))].on_start(start, now);
  return set != 0;
}

std::optional<WindowTreatment> RemoteBottlenecks::treat(Packet& packet, Time now) noexcept {
  const PacketMeta& m = meta(packet);
  const Set set = m.tcp_offset == 0 && m.traffic_class != TrafficClass::kDdl
                      ? Set{0}
                      : remote_of(m.flow.destination_address);
  if (set == 0 || is_ipv6_at(packet, m.ip_offset)) return std::nullopt;
  auto treatment = WindowTreatment::kFallback;
  for (Set left = set; left != 0; left &= static_cast<Set>(left - 1))
    treatment = stronger(
        treatment, all_[static_cast<std::size_t>(std::countr_zero(left))].on_arrival(packet, now));
  return treatment;
}

bool RemoteBottlenecks::on_return(Packet& packet, Time now) noexcept {
  const PacketMeta& m = meta(packet);
  const Set set = remote_of(m.flow.source_address);
  if (set == 0 || is_ipv6_at(packet, m.ip_offset)) return false;
  for (Set left = set; left != 0; left &= static_cast<Set>(left - 1))
    all_[static_cast<std::size_t>(std::countr_zero(left))].on_return(packet, now);
  return true;
}

bool RemoteBottlenecks::on_admission(Packet& packet, Time now) noexcept {
  const auto treatment = treat(packet, now);
  if (treatment) set_treatment(meta(packet), *treatment);
  return treatment.has_value();
}

bool RemoteBottlenecks::takes_elsewhere(Packet& packet, Time now) noexcept {
  return treat(packet, now).has_value();
}

std::unique_ptr<PartChange> RemoteBottlenecks::prepare(const PartReload& reload) const {
  auto change = std::make_unique<RemoteChange>();
  change->policies = policies_of(reload.queue_to, reload.policy.signers);
  return change;
}

void RemoteBottlenecks::apply(PartChange* change, const PortQueueConfig& /*to*/,
                              Time now) noexcept {
  const auto& policies = static_cast<RemoteChange*>(change)->policies;
  assert(policies.size() == all_.size());
  for (std::size_t i = 0; i < all_.size(); ++i) all_[i].change_policy(policies[i], now);
}

void RemoteBottlenecks::settle(Time now) noexcept {
  for (auto& each : all_) each.settle(now);
}

void RemoteBottlenecks::count(QueueCounts& to, std::size_t /*queue*/, Time /*now*/) const {
  for (const auto& each : all_) each.add_to(to.beyond);
}

void RemoteBottlenecks::report(QueueReport& to, Time now) const {
  for (const auto& each : all_) to.beyond_by_name.push_back(each.report(now));
}

}  // namespace outrider::sw
