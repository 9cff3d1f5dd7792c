#include <algorithm>
#include <array>
#include <iterator>

#include "common/telemetry/add_fields.h"
#include "trafficgen/apps/generator_state.h"
#include "trafficgen/streams/engine/stream_config.h"

namespace outrider::tg {
namespace {

/// Adds the series of another lcore, whose bins begin at the same instants.
void add_bins(std::vector<GoodputBin>& to, const std::vector<GoodputBin>& more) {
  to.resize(std::max(to.size(), more.size()));
  for (std::size_t i = 0; i < more.size(); ++i)
    for (std::size_t c = 0; c < kTrafficClasses; ++c)
      to[i].delivered_bytes.values[c] += more[i].delivered_bytes.values[c];
}

}  // namespace

TrafficLive Generator::live(Time now) const noexcept {
  const State& s = *state_;
  TrafficLive live{.at_ns = now.time_since_epoch().count()};
  for (std::size_t h = 0; h < s.hosts.size(); ++h) {
    if (s.hosts[h] == nullptr) continue;
    const HostCounters& c = s.hosts[h]->counters();
    live.add_sent(s.device_of[h], c.sent, c.sent_bytes + kFcsBytes * c.sent);
    live.received += c.received;
    live.received_bytes += c.received_bytes + kFcsBytes * c.received;
    for (std::size_t i = 0; i < kDropReasons; ++i) live.drops[i] += c.drops[i];
  }
  live.received += s.unknown_host + s.malformed + s.not_ipv4 + s.pauses_taken;
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
    if (job == nullptr) continue;
    live.bursts += job->delivered_bursts();
    live.iterations += job->ended_iterations();
  }
  for (const auto& group : s.flow_groups) {
    if (group == nullptr) continue;
    live.flows_open += group->open();
    live.flows_completed += group->completed();
    live.flows_failed += group->failed();
  }
  for (const auto& flows : s.requests)
    if (flows != nullptr) live.requests += flows->completed();
  for (const auto& transfer : s.transfers)
    if (transfer != nullptr) live.transfers += transfer->ended();
  return live;
}

GeneratorReport Generator::report(Time now) const {
  const std::array parts{this};
  return report(parts, now);
}

GeneratorReport Generator::report(std::span<const Generator* const> parts, Time now) {
  std::vector<const State*> states;
  for (const Generator* part : parts) states.push_back(part->state_.get());
  GeneratorReport r;
  r.ledger_balanced = true;
  State::add_counts(states, r);
  State::add_records(states, r);
  TrafficLive totals;
  bool ended = true;
  for (const Generator* part : parts) {
    add(totals, part->live(now));
    ended &= part->finished() && std::ranges::none_of(part->state_->jobs, [](const auto& job) {
               return job != nullptr && job->gave_up();
             });
  }
  r.end_ns = totals.at_ns;
  r.sent = totals.sent;
  r.received = totals.received;
  r.drops = totals.drops;
  r.jobs_finished = ended;
  return r;
}

std::vector<std::uint32_t> Generator::flows_of_jobs() const {
  std::vector<std::uint32_t> flows;
  for (const auto& job : state_->jobs) {
    JobsReport of_job;
    if (job != nullptr) job->fill(of_job);
    flows.push_back(static_cast<std::uint32_t>(of_job.flows.size()));
  }
  return flows;
}

namespace {

/// Calls `act` for each of the objects in the order of the file, whichever lcore has it.
template <class State, class Objects, class Act>
void for_all(const std::vector<const State*>& parts, Objects State::*objects, Act act) {
  for (std::size_t i = 0; i < (parts.front()->*objects).size(); ++i)
    for (const State* part : parts)
      if (const auto& one = (part->*objects)[i]; one != nullptr) act(*one);
}

}  // namespace

void Generator::State::add_counts(const std::vector<const State*>& parts, GeneratorReport& r) {
  for_all(parts, &State::hosts, [&](const Host& host) {
    const HostCounters& c = host.counters();
    r.consumed += c.to_connections + c.signals_taken + c.datagrams_taken + c.pauses_taken;
    r.pauses_taken += c.pauses_taken;
    r.paused_ns += c.paused_ns;
    r.mbuf_exhausted += c.mbuf_exhausted;
    r.device_full_waits += c.device_full_waits;
    r.payload.verified_bytes += c.payload.verified_bytes;
    r.payload.mismatched_bytes += c.payload.mismatched_bytes;
    r.payload.mismatched_segments += c.payload.mismatched_segments;
    add_fields<SignalMessages>(r, c);
    r.ledger_balanced &= c.received == c.to_connections + c.signals_taken + c.datagrams_taken +
                                           c.pauses_taken + sum(c.drops);
  });
  for (const State* s : parts) {
    r.consumed += s->pauses_taken;
    r.pauses_taken += s->pauses_taken;
    r.flights_exhausted += s->memory.counters.flights_exhausted;
    r.segments_exhausted += s->memory.counters.segments_exhausted;
    r.disorders_exhausted += s->memory.counters.disorders_exhausted;
    add_fields<TcpEvents>(r.tcp_events, s->memory.events);
    add_bins(r.bins, s->goodput.bins());
  }
  r.bin_ns = parts.front()->goodput.width().count();
}

void Generator::State::add_records(const std::vector<const State*>& parts, GeneratorReport& r) {
  for_all(parts, &State::jobs, [&](const Job& job) { job.fill(r); });
  r.ledger_balanced &= r.starts_sent == r.starts.sent();
  r.ledger_balanced &= r.roce.balanced();
  for_all(parts, &State::long_flows, [&](const LongFlowSource& flow) {
    r.flows.push_back(flow.report());
    r.background_roce += flow.roce();
  });
  for_all(parts, &State::transfers, [&](const TransferSource& transfer) {
    transfer.fill(r.transfers);
    r.background_roce += transfer.roce();
  });
  for_all(parts, &State::flow_groups, [&](const FlowGroupSource& group) {
    r.flow_groups.push_back(group.report());
    r.background_roce += group.roce();
  });
  r.ledger_balanced &= r.background_roce.balanced();
  for_all(parts, &State::captures,
          [&](const CapturePlayer& capture) { r.captures.push_back(capture.report()); });
  for (const CaptureReport& capture : r.captures)
    r.ledger_balanced &= capture.received <= capture.sent;
  for_all(parts, &State::requests,
          [&](const RequestFlows& flows) { r.requests.push_back(flows.report()); });
  for_all(parts, &State::neighbours,
          [&](const NeighbourEdge& edge) { edge.fill(r.neighbourhood); });
  r.consumed += r.neighbourhood.totals.consumed();
  for (const State* s : parts)
    for (std::uint32_t h = 0; s->sampler != nullptr && h < s->hosts.size(); ++h)
      std::ranges::move(s->sampler->series().of_host(h, s->config.hosts[h].name),
                        std::back_inserter(r.connections));
}

}  // namespace outrider::tg
