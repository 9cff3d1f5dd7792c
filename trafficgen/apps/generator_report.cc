#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string>

#include "common/config/addresses.h"
#include "common/telemetry/add_fields.h"
#include "trafficgen/apps/generator_state.h"

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
  TrafficLive live;
  live.at_ns = now.time_since_epoch().count();
  s.hosts.add_packets(live);
  live.delivered_bytes = s.goodput.totals();
  live.tcp_events = s.hosts.memory().events;
  base_of<TransportMemoryCounters>(live) = s.hosts.memory().counters;
  for (const auto& job : s.jobs.all()) {
    if (job == nullptr) continue;
    const JobLive counts = job->live();
    add_fields<JobCounts>(live, counts);
    add_fields<JobProgress>(live, counts);
  }
  for (const auto& group : s.background.flow_groups) {
    if (group == nullptr) continue;
    const FlowGroupCounts counts = group->counts();
    live.flows_open += counts.open;
    live.flows_completed += counts.completed;
    live.flows_failed += counts.failed;
  }
  for (const auto& flows : s.background.requests)
    if (flows != nullptr) live.requests += flows->counts().completed;
  for (const auto& transfer : s.background.transfers)
    if (transfer != nullptr) live.transfers += transfer->ended();
  return live;
}

namespace {

const std::string& name_of(const Host& host) { return host.setup().name; }
template <class Part>
const std::string& name_of(const Part& part) {
  return part.name();
}

/// Names the parts of one kind that there are.
template <class Counts, class Parts>
void name_all(PartCells<Counts>& cells, const Parts& parts) {
  cells.resize(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i] != nullptr) cells.name(i, name_of(*parts[i]));
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
  name_all(parts.hosts, s.hosts.all());
  name_all(parts.jobs, s.jobs.all());
  name_all(parts.flows, s.background.long_flows);
  name_all(parts.flow_groups, s.background.flow_groups);
  name_all(parts.requests, s.background.requests);
  name_all(parts.captures, s.background.captures);
}

void Generator::publish(RunParts& parts) const noexcept {
  const State& s = *state_;
  publish_all(parts.hosts, s.hosts.all(), [](const Host& host) {
    HostCounters counts = host.counters();
    counts.sent_bytes += kFcsBytes * counts.sent;
    counts.received_bytes += kFcsBytes * counts.received;
    return counts;
  });
  const auto counts_of = [](const auto& part) { return part.counts(); };
  publish_all(parts.jobs, s.jobs.all(), [](const Job& job) { return job.live(); });
  publish_all(parts.flows, s.background.long_flows, counts_of);
  publish_all(parts.flow_groups, s.background.flow_groups, counts_of);
  publish_all(parts.requests, s.background.requests, counts_of);
  publish_all(parts.captures, s.background.captures, counts_of);
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
    ended &= part->finished() &&
             std::ranges::none_of(part->state_->jobs.all(),
                                  [](const auto& job) { return job != nullptr && job->gave_up(); });
  }
  r.end_ns = totals.at_ns;
  base_of<GeneratorCounts>(r) = totals;
  r.ledger_balanced &= r.starts_sent == r.starts.sent();
  r.jobs_finished = ended;
  return r;
}

std::vector<std::uint32_t> Generator::flows_of_jobs() const {
  std::vector<std::uint32_t> flows;
  for (const auto& job : state_->jobs.all()) {
    JobsReport of_job;
    if (job != nullptr) job->fill(of_job);
    flows.push_back(static_cast<std::uint32_t>(of_job.flows.size()));
  }
  return flows;
}

namespace {

/// Calls `act` for each of the objects in the order of the file, whichever lcore has it.
/// @param list_of returns the list of a part
template <class State, class ListOf, class Act>
void for_all(const std::vector<const State*>& parts, ListOf list_of, Act act) {
  for (std::size_t i = 0; i < list_of(*parts.front()).size(); ++i)
    for (const State* part : parts)
      if (const auto& one = list_of(*part)[i]; one != nullptr) act(*one);
}

/// Does the same for a kind of background traffic.
template <class State, class List, class Act>
void for_all_flows(const std::vector<const State*>& parts, List GeneratorBackground::*list,
                   Act act) {
  for_all(
      parts, [&](const State& s) -> const List& { return s.background.*list; }, act);
}

}  // namespace

void Generator::State::add_counts(const std::vector<const State*>& parts, GeneratorReport& r) {
  const auto hosts_of = [](const State& s) -> const auto& { return s.hosts.all(); };
  for_all(parts, hosts_of, [&](const Host& host) {
    const HostCounters& c = host.counters();
    r.ledger_balanced &= c.received == c.consumed() + sum(c.drops);
  });
  for (const State* s : parts) add_bins(r.bins, s->goodput.bins());
  r.bin_ns = parts.front()->goodput.width().count();
}

void Generator::State::add_records(const std::vector<const State*>& parts, GeneratorReport& r) {
  using Background = GeneratorBackground;
  const auto jobs_of = [](const State& s) -> const auto& { return s.jobs.all(); };
  for_all(parts, jobs_of, [&](const Job& job) { job.fill(r); });
  r.ledger_balanced &= r.roce.balanced();
  for_all_flows(parts, &Background::long_flows, [&](const LongFlow& flow) {
    r.flows.push_back(flow.report());
    r.background_roce += flow.roce();
  });
  for_all_flows(parts, &Background::transfers, [&](const TransferSource& transfer) {
    transfer.fill(r.transfers);
    r.background_roce += transfer.roce();
  });
  for_all_flows(parts, &Background::flow_groups, [&](const FlowGroup& group) {
    r.flow_groups.push_back(group.report());
    r.background_roce += group.roce();
  });
  for_all_flows(parts, &Background::requests, [&](const RequestFlows& flows) {
    r.requests.push_back(flows.report());
    r.background_roce += flows.roce();
  });
  r.ledger_balanced &= r.background_roce.balanced();
  for_all_flows(parts, &Background::captures,
                [&](const CapturePlayer& capture) { r.captures.push_back(capture.report()); });
  for (const CaptureReport& capture : r.captures)
    r.ledger_balanced &= capture.received <= capture.sent;
  const auto edges_of = [](const State& s) -> const auto& { return s.hosts.neighbours(); };
  for_all(parts, edges_of, [&](const NeighbourEdge& edge) { edge.fill(r.neighbourhood); });
  std::map<std::uint32_t, std::string> names;
  for (const HostConfig& host : parts.front()->config.hosts)
    names.emplace(parse_ipv4(host.address).value.value_or(0), host.name);
  for (const State* s : parts)
    for (std::uint32_t h = 0; s->sampler != nullptr && h < s->config.hosts.size(); ++h)
      std::ranges::move(s->sampler->series().of_host(h, s->config.hosts[h].name, names),
                        std::back_inserter(r.connections));
}

}  // namespace outrider::tg
