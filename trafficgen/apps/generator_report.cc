#include <algorithm>
#include <array>
#include <iterator>

#include "common/telemetry/add_fields.h"
#include "trafficgen/apps/generator_state.h"
#include "trafficgen/hosts/host_totals.h"
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

void Generator::State::add_packets(TrafficLive& live) const noexcept {
  HostCounters all;
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    if (hosts[h] == nullptr) continue;
    const HostCounters& c = hosts[h]->counters();
    add(all, c);
    live.add_sent(device_of[h], c.sent, c.sent_bytes + kFcsBytes * c.sent);
  }
  live.received = all.received;
  live.received_bytes = all.received_bytes + kFcsBytes * all.received;
  live.drops = all.drops;
  live.consumed = all.consumed();
  base_of<NicCounts>(live) = all;
  base_of<SignalMessages>(live) = all;
  live.payload = all.payload;
  live.received += unknown_host + malformed + not_ipv4 + pauses_taken;
  live.consumed += pauses_taken;
  live.pauses_taken += pauses_taken;
  live.drops[DropReason::kNotIpv4] += not_ipv4;
  live.drops[DropReason::kUnknownHost] += unknown_host;
  live.drops[DropReason::kMalformed] += malformed;
  for (const auto& edge : neighbours) {
    if (edge == nullptr) continue;
    const NeighbourTotals totals = edge->totals();
    add_fields(live.neighbours, totals);
    live.received += totals.consumed();
    live.consumed += totals.consumed();
    live.drops[DropReason::kUnresolved] += edge->unresolved();
  }
}

TrafficLive Generator::live(Time now) const noexcept {
  const State& s = *state_;
  TrafficLive live;
  live.at_ns = now.time_since_epoch().count();
  s.add_packets(live);
  live.delivered_bytes = s.goodput.totals();
  live.tcp_events = s.memory.events;
  base_of<TransportMemoryCounters>(live) = s.memory.counters;
  for (const auto& job : s.jobs) {
    if (job == nullptr) continue;
    const JobLive counts = job->live();
    add_fields<JobCounts>(live, counts);
    add_fields<JobProgress>(live, counts);
  }
  for (const auto& group : s.flow_groups) {
    if (group == nullptr) continue;
    const FlowGroupCounts counts = group->counts();
    live.flows_open += counts.open;
    live.flows_completed += counts.completed;
    live.flows_failed += counts.failed;
  }
  for (const auto& flows : s.requests)
    if (flows != nullptr) live.requests += flows->counts().completed;
  for (const auto& transfer : s.transfers)
    if (transfer != nullptr) live.transfers += transfer->ended();
  return live;
}

namespace {

/// Names the parts of one kind that there are.
template <class Counts, class Parts>
void name_all(PartCells<Counts>& cells, const Parts& parts) {
  cells.resize(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i] != nullptr) cells.name(i, parts[i]->name());
}

/// Publishes what `counts_of` says of each part of one kind, if the kind is shown.
template <class Counts, class Parts, class CountsOf>
void publish_all(PartCells<Counts>& cells, const Parts& parts, CountsOf counts_of) noexcept {
  if (!cells.shown()) return;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i] != nullptr) cells.publish(i, counts_of(*parts[i]));
}

}  // namespace

void Generator::name(RunParts& parts) const {
  const State& s = *state_;
  name_all(parts.hosts, s.hosts);
  name_all(parts.jobs, s.jobs);
  name_all(parts.flows, s.long_flows);
  name_all(parts.flow_groups, s.flow_groups);
  name_all(parts.requests, s.requests);
  name_all(parts.captures, s.captures);
}

void Generator::publish(RunParts& parts) const noexcept {
  const State& s = *state_;
  publish_all(parts.hosts, s.hosts, [](const Host& host) {
    HostCounters counts = host.counters();
    counts.sent_bytes += kFcsBytes * counts.sent;
    counts.received_bytes += kFcsBytes * counts.received;
    return counts;
  });
  const auto counts_of = [](const auto& part) { return part.counts(); };
  publish_all(parts.jobs, s.jobs, [](const Job& job) { return job.live(); });
  publish_all(parts.flows, s.long_flows, counts_of);
  publish_all(parts.flow_groups, s.flow_groups, counts_of);
  publish_all(parts.requests, s.requests, counts_of);
  publish_all(parts.captures, s.captures, counts_of);
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
  base_of<GeneratorCounts>(r) = totals;
  r.ledger_balanced &= r.starts_sent == r.starts.sent();
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
    r.ledger_balanced &= c.received == c.consumed() + sum(c.drops);
  });
  for (const State* s : parts) add_bins(r.bins, s->goodput.bins());
  r.bin_ns = parts.front()->goodput.width().count();
}

void Generator::State::add_records(const std::vector<const State*>& parts, GeneratorReport& r) {
  for_all(parts, &State::jobs, [&](const Job& job) { job.fill(r); });
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
  for (const State* s : parts)
    for (std::uint32_t h = 0; s->sampler != nullptr && h < s->hosts.size(); ++h)
      std::ranges::move(s->sampler->series().of_host(h, s->config.hosts[h].name),
                        std::back_inserter(r.connections));
}

}  // namespace outrider::tg
