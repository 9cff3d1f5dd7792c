#include <algorithm>

#include "common/telemetry/add_fields.h"
#include "trafficgen/apps/generator_state.h"
#include "trafficgen/streams/engine/stream_config.h"

namespace outrider::tg {

TrafficLive Generator::live(Time now) const noexcept {
  const State& s = *state_;
  TrafficLive live{.at_ns = now.time_since_epoch().count()};
  for (const auto& host : s.hosts) {
    const HostCounters& c = host->counters();
    live.sent += c.sent;
    live.sent_bytes += c.sent_bytes + kFcsBytes * c.sent;
    live.received += c.received;
    live.received_bytes += c.received_bytes + kFcsBytes * c.received;
    for (std::size_t i = 0; i < kDropReasons; ++i) live.drops[i] += c.drops[i];
  }
  live.received += s.unknown_host + s.malformed + s.not_ipv4;
  live.drops[DropReason::kNotIpv4] += s.not_ipv4;
  live.drops[DropReason::kUnknownHost] += s.unknown_host;
  live.drops[DropReason::kMalformed] += s.malformed;
  for (const auto& edge : s.neighbours) {
    if (edge == nullptr) continue;
    live.received += edge->totals().consumed();
    live.drops[DropReason::kUnresolved] += edge->unresolved();
  }
  live.delivered_bytes = s.goodput.totals();
  live.retransmitted = s.memory.events.retransmitted;
  for (const auto& job : s.jobs) {
    live.bursts += job->delivered_bursts();
    live.iterations += job->ended_iterations();
  }
  for (const auto& group : s.flow_groups) {
    live.flows_open += group->open();
    live.flows_completed += group->completed();
    live.flows_failed += group->failed();
  }
  for (const auto& flows : s.requests) live.requests += flows->completed();
  for (const auto& transfer : s.transfers) live.transfers += transfer->ended();
  return live;
}

GeneratorReport Generator::report(Time now) const {
  const State& s = *state_;
  const TrafficLive totals = live(now);
  GeneratorReport r;
  r.bin_ns = s.goodput.width().count();
  r.end_ns = totals.at_ns;
  r.sent = totals.sent;
  r.received = totals.received;
  r.drops = totals.drops;
  r.ledger_balanced = true;
  for (const auto& host : s.hosts) {
    const HostCounters& c = host->counters();
    r.consumed += c.to_connections + c.signals_taken + c.datagrams_taken;
    r.mbuf_exhausted += c.mbuf_exhausted;
    r.device_full_waits += c.device_full_waits;
    r.payload.verified_bytes += c.payload.verified_bytes;
    r.payload.mismatched_bytes += c.payload.mismatched_bytes;
    r.payload.mismatched_segments += c.payload.mismatched_segments;
    add_fields<SignalMessages>(r, c);
    r.ledger_balanced &=
        c.received == c.to_connections + c.signals_taken + c.datagrams_taken + sum(c.drops);
  }
  for (const auto& job : s.jobs) job->fill(r);
  r.ledger_balanced &= r.starts_sent == r.starts.sent();
  for (const auto& flow : s.long_flows) r.flows.push_back(flow->report());
  for (const auto& transfer : s.transfers) transfer->fill(r.transfers);
  for (const auto& group : s.flow_groups) r.flow_groups.push_back(group->report());
  r.flights_exhausted = s.memory.counters.flights_exhausted;
  r.segments_exhausted = s.memory.counters.segments_exhausted;
  r.disorders_exhausted = s.memory.counters.disorders_exhausted;
  r.tcp_events = s.memory.events;
  for (const auto& flows : s.requests) r.requests.push_back(flows->report());
  r.bins = s.goodput.bins();
  for (const auto& edge : s.neighbours)
    if (edge != nullptr) edge->fill(r.neighbourhood);
  r.consumed += r.neighbourhood.totals.consumed();
  r.jobs_finished =
      finished() && std::ranges::none_of(s.jobs, [](const auto& job) { return job->gave_up(); });
  return r;
}

}  // namespace outrider::tg
