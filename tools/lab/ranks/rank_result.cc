#include "tools/lab/ranks/rank_result.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "common/telemetry/add_fields.h"
#include "tools/lab/run/text_parts.h"
#include "tools/lab/simulation/link_sampler.h"

namespace outrider::lab {
namespace {

/// Takes records from ranks' lists, each in the order in which its rank has them.
template <class Record>
class Lists {
 public:
  Lists(std::vector<RankResult>& parts, auto list_of) : at_(parts.size()) {
    for (RankResult& part : parts) lists_.push_back(&list_of(part.result));
  }
  /// Moves the next record of a rank. @throws std::runtime_error if it has no more
  void take(std::uint32_t rank, std::vector<Record>& to) {
    if (at_[rank] >= lists_[rank]->size())
      throw std::runtime_error("the report of rank " + std::to_string(rank) + " lacks records");
    to.push_back(std::move((*lists_[rank])[at_[rank]++]));
  }
  /// Moves the next records of a rank as long as `same` says that they belong there.
  template <class Same>
  void take_while(std::uint32_t rank, std::vector<Record>& to, Same same) {
    while (at_[rank] < lists_[rank]->size() && same((*lists_[rank])[at_[rank]])) take(rank, to);
  }

 private:
  std::vector<std::vector<Record>*> lists_;
  std::vector<std::size_t> at_;
};

/// Knows which rank has which table of the traffic.
class Owners {
 public:
  Owners(const tg::GeneratorConfig& c, const Partition& p) : partition_(p) {
    for (std::uint32_t h = 0; h < c.hosts.size(); ++h) index_[c.hosts[h].name] = h;
    const auto learns = [](const tg::JobConfig& job) {
      return job.learner.model != tg::LearnerModel::kNone;
    };
    for (const auto& job : c.jobs) jobs_.push_back({of(job.workers.front()), learns(job)});
    for (const auto& job : c.jobs)
      jobs_.insert(jobs_.end(), job.arrivals.size(), {of(job.workers.front()), learns(job)});
  }
  struct OfJob {
    std::uint32_t rank = 0;
    bool learns = false;  ///< and has a LearnerReport
  };
  /// @pre has(host)
  [[nodiscard]] std::uint32_t of(const std::string& host) const {
    return partition_.of_host[index_.at(host)];
  }
  [[nodiscard]] bool has(const std::string& host) const { return index_.contains(host); }
  /// Returns all jobs, later arrivals after those of the file.
  [[nodiscard]] const std::vector<OfJob>& of_jobs() const noexcept { return jobs_; }

 private:
  const Partition& partition_;
  std::map<std::string, std::uint32_t> index_;
  std::vector<OfJob> jobs_;
};

template <class E>
void add_counts(PerReason<E>& to, const PerReason<E>& more) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += more[i];
}

void join_switches(const Case& c, const Partition& p, std::vector<RankResult>& parts,
                   sw::SwitchReport& r) {
  r.bin_ns = parts.front().result.switches.bin_ns;
  r.end_ns = parts.front().result.switches.end_ns;
  r.ledger_balanced = true;
  for (const RankResult& part : parts) {
    const sw::SwitchReport& one = part.result.switches;
    r.received += one.received;
    r.copied += one.copied;
    r.transmitted += one.transmitted;
    r.resident += one.resident;
    r.on_links += one.on_links;
    r.pause_frames += one.pause_frames;
    r.pauses_taken += one.pauses_taken;
    for (std::size_t k = 0; k < kTrafficClasses; ++k)
      add_counts(r.drops.values[k], one.drops.values[k]);
    add_fields<sw::SignalCounts>(r, one);
    add_fields<sw::FlowletCounters>(r, one);
    r.ledger_balanced &= one.ledger_balanced;
  }
  Lists<sw::QueueReport> queues(
      parts, [](RunResult & x) -> auto& { return x.switches.queues; });
  for (std::size_t s = 0; s < c.switches.switches.size(); ++s)
    queues.take_while(p.of_switch[s], r.queues, [&](const sw::QueueReport& q) {
      return q.switch_name == c.switches.switches[s].name;
    });
}

void join_counts(const std::vector<RankResult>& parts, tg::GeneratorReport& r) {
  r.bin_ns = parts.front().result.traffic.bin_ns;
  r.end_ns = parts.front().result.traffic.end_ns;
  r.ledger_balanced = r.jobs_finished = true;
  for (const RankResult& part : parts) {
    const tg::GeneratorReport& one = part.result.traffic;
    r.sent += one.sent;
    r.received += one.received;
    r.consumed += one.consumed;
    add_counts(r.drops, one.drops);
    r.pauses_taken += one.pauses_taken;
    r.paused_ns += one.paused_ns;
    r.mbuf_exhausted += one.mbuf_exhausted;
    r.device_full_waits += one.device_full_waits;
    r.flights_exhausted += one.flights_exhausted;
    r.segments_exhausted += one.segments_exhausted;
    r.disorders_exhausted += one.disorders_exhausted;
    add_fields<tg::TcpEvents>(r.tcp_events, one.tcp_events);
    add_fields<tg::SignalMessages>(r, one);
    r.starts += one.starts;
    r.ack_timeouts += one.ack_timeouts;
    r.late_iterations += one.late_iterations;
    r.excess_resets += one.excess_resets;
    r.roce += one.roce;
    r.background_roce += one.background_roce;
    r.payload.verified_bytes += one.payload.verified_bytes;
    r.payload.mismatched_bytes += one.payload.mismatched_bytes;
    r.payload.mismatched_segments += one.payload.mismatched_segments;
    r.ledger_balanced &= one.ledger_balanced;
    r.jobs_finished &= one.jobs_finished;
    r.bins.resize(std::max(r.bins.size(), one.bins.size()));
    for (std::size_t i = 0; i < one.bins.size(); ++i)
      for (std::size_t k = 0; k < kTrafficClasses; ++k)
        r.bins[i].delivered_bytes.values[k] += one.bins[i].delivered_bytes.values[k];
  }
}

void join_jobs(const Case& c, const Owners& owners, std::vector<RankResult>& parts,
               tg::GeneratorReport& r) {
  Lists<tg::BurstRecord> bursts(
      parts, [](RunResult & x) -> auto& { return x.traffic.bursts; });
  Lists<tg::IterationRecord> iterations(
      parts, [](RunResult & x) -> auto& { return x.traffic.iterations; });
  Lists<tg::StepRecord> steps(
      parts, [](RunResult & x) -> auto& { return x.traffic.steps; });
  Lists<tg::JobReport> jobs(
      parts, [](RunResult & x) -> auto& { return x.traffic.jobs; });
  Lists<tg::LearnerReport> learners(
      parts, [](RunResult & x) -> auto& { return x.traffic.learners; });
  Lists<tg::FlowReport> flows(
      parts, [](RunResult & x) -> auto& { return x.traffic.flows; });
  for (std::size_t j = 0; j < owners.of_jobs().size(); ++j) {
    const auto [rank, learns] = owners.of_jobs()[j];
    bursts.take_while(rank, r.bursts, [&](const auto& b) { return b.identity.job == j; });
    iterations.take_while(rank, r.iterations, [&](const auto& i) { return i.job == j; });
    steps.take_while(rank, r.steps, [&](const auto& s) { return s.job == j; });
    for (std::uint32_t n = 0; n < parts[rank].flows_of_jobs.at(j); ++n) flows.take(rank, r.flows);
    jobs.take(rank, r.jobs);
    if (learns) learners.take(rank, r.learners);
  }
  for (const auto& table : c.traffic.long_flows)
    for (const auto& from : table.from)
      for (std::uint32_t n = 0; n < table.flows_per_pair; ++n) flows.take(owners.of(from), r.flows);
}

void join_background(const Case& c, const Owners& owners, std::vector<RankResult>& parts,
                     tg::GeneratorReport& r) {
  Lists<tg::TransferReport> transfers(
      parts, [](RunResult & x) -> auto& { return x.traffic.transfers; });
  for (const auto& t : c.traffic.transfers)
    transfers.take_while(owners.of(owners.has(t.from) ? t.from : t.to), r.transfers,
                         [&](const auto& one) { return one.name == t.name; });
  Lists<tg::FlowGroupReport> groups(
      parts, [](RunResult & x) -> auto& { return x.traffic.flow_groups; });
  for (const auto& g : c.traffic.flows)
    groups.take(owners.of(g.list ? g.hosts.front() : g.from.front()), r.flow_groups);
  Lists<tg::CaptureReport> captures(
      parts, [](RunResult & x) -> auto& { return x.traffic.captures; });
  for (const auto& capture : c.traffic.captures) captures.take(owners.of(capture.from), r.captures);
  Lists<tg::RequestReport> requests(
      parts, [](RunResult & x) -> auto& { return x.traffic.requests; });
  for (const auto& table : c.traffic.requests)
    for (const auto& from : table.from) requests.take(owners.of(from), r.requests);
  Lists<tg::ConnectionSample> connections(
      parts, [](RunResult & x) -> auto& { return x.traffic.connections; });
  for (const auto& host : c.traffic.hosts)
    connections.take_while(owners.of(host.name), r.connections,
                           [&](const auto& one) { return one.host == host.name; });
}

/// Returns whether each rank received what was sent to it, wire by wire.
bool wires_balance(const std::vector<RankResult>& parts) {
  std::map<std::uint32_t, std::uint64_t> sent, received;
  for (const RankResult& part : parts) {
    sent.insert(part.sent.begin(), part.sent.end());
    received.insert(part.received.begin(), part.received.end());
  }
  return sent == received;
}

std::string numbers(const std::map<std::uint32_t, std::uint64_t>& packets) {
  std::string text;
  for (const auto& [wire, n] : packets)
    text += std::to_string(wire) + ' ' + std::to_string(n) + ' ';
  return text;
}

std::map<std::uint32_t, std::uint64_t> packets_from(const std::string& text) {
  std::map<std::uint32_t, std::uint64_t> packets;
  std::istringstream in(text);
  for (std::uint64_t wire = 0, n = 0; in >> wire >> n;)
    packets[static_cast<std::uint32_t>(wire)] = n;
  return packets;
}

}  // namespace

std::string serialize(const RankResult& part) {
  std::string out, flows;
  append_result(out, part.result);
  append_part(out, part.result.interrupted ? "interrupted" : "");
  for (const std::uint32_t n : part.flows_of_jobs) flows += std::to_string(n) + ' ';
  append_part(out, flows);
  append_part(out, numbers(part.sent));
  append_part(out, numbers(part.received));
  append_part(out, std::to_string(part.events));
  return out;
}

RankResult rank_result_from(const std::string& text) {
  PartReader parts(text);
  RankResult r{.result = parts.next_result()};
  r.result.interrupted = !parts.next().empty();
  const std::string flows = parts.next();
  std::istringstream in(flows);
  for (std::uint32_t n = 0; in >> n;) r.flows_of_jobs.push_back(n);
  r.sent = packets_from(parts.next());
  r.received = packets_from(parts.next());
  r.events = std::stoull(parts.next());
  return r;
}

RunResult join_parts(const Case& c, const Partition& partition, std::vector<RankResult> parts) {
  RunResult whole;
  const Owners owners(c.traffic, partition);
  join_switches(c, partition, parts, whole.switches);
  whole.switches.ledger_balanced &= wires_balance(parts);
  std::vector<const LinkSlices*> slices;
  slices.reserve(parts.size());
  for (const RankResult& part : parts) slices.push_back(&part.result.slices);
  whole.slices = joined_slices(c.switches, partition.of_switch, slices);
  join_counts(parts, whole.traffic);
  join_jobs(c, owners, parts, whole.traffic);
  join_background(c, owners, parts, whole.traffic);
  for (const RankResult& part : parts) {
    whole.mbufs_leaked += part.result.mbufs_leaked;
    whole.interrupted |= part.result.interrupted;
  }
  return whole;
}

}  // namespace outrider::lab
