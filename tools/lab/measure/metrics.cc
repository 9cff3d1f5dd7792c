#include "tools/lab/measure/metrics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "tools/lab/measure/collective_bandwidth.h"
#include "tools/lab/measure/metrics_dip.h"
#include "tools/lab/measure/metrics_iterations.h"
#include "tools/lab/measure/metrics_paths.h"
#include "tools/lab/measure/metrics_series.h"

namespace outrider::lab {

namespace {

/// The iterations that are left out, as (job, iteration).
using Excluded = std::set<std::pair<std::uint16_t, std::uint32_t>>;

// -- bursts as the generator saw them

void add(Attribution& sum, const tg::BurstRecord& burst) {
  if (!burst.times) return;
  ++sum.bursts;
  for (std::size_t i = 0; i < kBurstTimes; ++i)
    sum.seconds_sum[i] += to_seconds(burst.times->ns[i]);
}

/// Adds size and bandwidths of one iteration of a collective, in the words of nccl-tests: what a
/// rank sends over the time that all take.
void add_bandwidths(const Case& definition, const IterationBursts& it, double seconds,
                    Samples& samples) {
  if (it.job >= definition.traffic.jobs.size() || seconds <= 0 || it.bursts.empty()) return;
  const auto factor = bus_factor(definition.traffic.jobs[it.job].collective, it.bursts.size());
  if (!factor || *factor == 0) return;
  double bits = 0;
  for (const tg::BurstRecord* b : it.bursts) bits += static_cast<double>(b->bytes) * 8;
  const double busbw = bits / static_cast<double>(it.bursts.size()) / seconds;
  samples.busbw_bits_per_second.add(it.job, busbw);
  samples.algbw_bits_per_second.add(it.job, busbw / *factor);
  const double bytes = bits / 8 / static_cast<double>(it.bursts.size()) / *factor;
  samples.collective_bytes.add(it.job, std::round(bytes));
}

void measure_pushes(const Case& definition, const std::vector<IterationBursts>& pushes,
                    const Excluded& excluded, CaseMetrics& m) {
  double bytes = 0, busy_seconds = 0;
  std::vector<double>& shares = m.samples.push_delivered_shares;
  for (const auto& it : pushes) {
    ++m.iterations;
    m.incomplete += !it.complete;
    if (excluded.contains({it.job, it.iteration})) continue;
    for (const tg::BurstRecord* b : it.bursts) {
      ++m.push_bursts;
      m.push_bytes += static_cast<double>(b->bytes);
      m.push_rtos += b->rtos;
      if (b->delivered_ns != tg::kNotYet_ns && b->bytes > 0)
        shares.push_back(static_cast<double>(b->delivered_bytes) / static_cast<double>(b->bytes));
      if (b->delivered_ns != tg::kNotYet_ns && b->due_ns != tg::kNotYet_ns)
        m.samples.push_seconds.add(it.job, to_seconds(b->delivered_ns - b->due_ns));
      add(m.attribution, *b);
    }
    if (!it.complete) continue;
    m.samples.burst_completion_seconds.add(it.job, to_seconds(it.completion_ns));
    if (it.due_ns != tg::kNotYet_ns) {
      const double took = to_seconds(it.delivered_ns - it.due_ns);
      m.samples.communication_seconds.add(it.job, took);
      add_bandwidths(definition, it, took, m.samples);
      if (it.iteration == 0) m.samples.first_communication_seconds.add(it.job, took);
    }
    for (const tg::BurstRecord* b : it.bursts) {
      const double took = to_seconds(b->delivered_ns - b->first_sent_ns);
      if (took <= 0) continue;
      bytes += static_cast<double>(b->bytes);
      busy_seconds += took;
      m.samples.burst_throughput_bits_per_second.push_back(static_cast<double>(b->bytes) * 8 /
                                                           took);
    }
  }
  if (busy_seconds > 0) m.ddl_total_throughput_bits_per_second = bytes * 8 / busy_seconds;
}

void measure_pulls(const std::vector<IterationBursts>& pulls, const Excluded& excluded,
                   CaseMetrics& m) {
  for (const auto& it : pulls)
    if (it.complete && !excluded.contains({it.job, it.iteration}))
      m.samples.pull_completion_seconds.add(it.job, to_seconds(it.completion_ns));
}

void measure_iterations(const Case& definition, const tg::GeneratorReport& traffic,
                        const Excluded& excluded, CaseMetrics& m) {
  struct Iteration {
    std::size_t workers = 0;
    std::int64_t slowest_ns = 0;
    bool ended = true;
  };
  struct Job {
    std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t end_ns = 0;
  };
  std::map<std::pair<std::uint16_t, std::uint32_t>, Iteration> iterations;
  std::map<std::uint16_t, Job> jobs;
  bool all_ended = traffic.jobs_finished;
  for (const auto& r : traffic.iterations) {
    Iteration& it = iterations[{r.job, r.iteration}];
    ++it.workers;
    const bool ended = r.begin_ns != tg::kNotYet_ns && r.end_ns != tg::kNotYet_ns;
    all_ended &= ended;
    it.ended &= ended;
    if (!ended) continue;
    it.slowest_ns = std::max(it.slowest_ns, r.end_ns - r.begin_ns);
    jobs[r.job].begin_ns = std::min(jobs[r.job].begin_ns, r.begin_ns);
    jobs[r.job].end_ns = std::max(jobs[r.job].end_ns, r.end_ns);
  }
  for (const auto& [key, it] : iterations)
    if (key.second >= definition.skip_iterations && it.ended &&
        it.workers == workers_of(definition, key.first, it.workers) && !excluded.contains(key))
      m.samples.iteration_seconds.add(key.first, to_seconds(it.slowest_ns));
  if (!all_ended || jobs.empty()) return;
  m.job_completion_seconds = 0;
  for (const auto& [index, job] : jobs)
    m.job_completion_seconds =
        std::max(m.job_completion_seconds, to_seconds(job.end_ns - job.begin_ns));
}

/// Measures per iteration of a job how parameters arrive and how NICs are used.
void measure_parameters(const Case& definition, const tg::GeneratorReport& traffic,
                        const Excluded& excluded, Samples& samples) {
  struct Iteration {
    std::size_t workers = 0;
    std::int64_t first_layer_ns = 0;
    std::int64_t forward_wait_ns = 0;
    double send_idle = 0;
    double receive_idle = 0;
  };
  std::map<std::pair<std::uint16_t, std::uint32_t>, Iteration> iterations;
  for (const auto& r : traffic.iterations) {
    const auto took_ns = static_cast<double>(r.parameters_ns - r.first_gradient_ns);
    if (r.parameters_ns == tg::kNotYet_ns || r.first_gradient_ns == tg::kNotYet_ns ||
        took_ns <= 0 || r.iteration < definition.skip_iterations)
      continue;
    Iteration& it = iterations[{r.job, r.iteration}];
    ++it.workers;
    it.first_layer_ns = std::max(it.first_layer_ns, r.first_layer_ns - r.ready_ns);
    it.forward_wait_ns = std::max(it.forward_wait_ns, r.forward_wait_ns);
    it.send_idle += 1 - static_cast<double>(r.nic_sending_ns) / took_ns;
    it.receive_idle += 1 - static_cast<double>(r.nic_receiving_ns) / took_ns;
  }
  for (const auto& [key, it] : iterations) {
    if (it.workers != workers_of(definition, key.first, it.workers) || excluded.contains(key))
      continue;
    const auto workers = static_cast<double>(it.workers);
    samples.first_layer_seconds.add(key.first, to_seconds(it.first_layer_ns));
    samples.forward_wait_seconds.add(key.first, to_seconds(it.forward_wait_ns));
    samples.nic_send_idle_share.push_back(it.send_idle / workers);
    samples.nic_receive_idle_share.push_back(it.receive_idle / workers);
  }
}

// -- bursts as the measured queue saw them

void measure_queue_bursts(const sw::QueueReport& queue, std::uint32_t skip_iterations,
                          const Excluded& excluded, Samples& samples) {
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::vector<const sw::QueueBurstRecord*>>
      by_key;
  for (const auto& record : queue.bursts)
    if (record.identity.direction == BurstDirection::kPush &&
        record.identity.iteration >= skip_iterations)
      by_key[{record.identity.job, record.identity.iteration}].push_back(&record);
  for (auto& [key, records] : by_key) {
    if (excluded.contains(key)) continue;
    std::ranges::sort(records, {}, [](const sw::QueueBurstRecord* r) {
      return std::pair(r->first_at_ns, r->identity.worker);
    });
    const sw::QueueBurstRecord& first = *records.front();
    const auto& found = first.start_packets.values;
    samples.start_queue_packets.push_back(first.start_packets[TrafficClass::kBackground]);
    samples.start_queue_total_packets.push_back(std::accumulate(found.begin(), found.end(), 0U));
    std::uint32_t largest = 0;
    for (const sw::QueueBurstRecord* r : records) {
      samples.worker_start_queue_packets.push_back(r->start_packets[TrafficClass::kBackground]);
      largest = std::max(largest, r->max_packets);
    }
    samples.max_queue_packets.push_back(largest);
  }
}

/// Returns the end of what a series may tell. One that is not full lacks only bins without traffic.
std::int64_t told_until_ns(std::size_t bins, std::uint32_t max_bins, std::int64_t bin_ns,
                           std::int64_t end_ns) {
  return bins < max_bins ? end_ns : std::min(end_ns, static_cast<std::int64_t>(bins) * bin_ns);
}

void describe_queue(const Case& definition, const sw::SwitchReport& switches,
                    const sw::QueueReport* queue, const Excluded& excluded, CaseMetrics& m) {
  const auto dot = definition.measured_queue.rfind('.');
  if (queue == nullptr) {
    m.queue.switch_name = definition.measured_queue.substr(0, dot);
    if (dot != std::string::npos) m.queue.port_name = definition.measured_queue.substr(dot + 1);
    return;
  }
  m.queue = {.switch_name = queue->switch_name,
             .port_name = queue->port_name,
             .number = queue->queue,
             .found = true,
             .drain_bits_per_second = queue->drain_bits_per_second,
             .bursts_not_recorded = queue->bursts_not_recorded};
  if (switches.end_ns > 0)
    m.queue.regulated_share =
        static_cast<double>(queue->regulated_ns) / static_cast<double>(switches.end_ns);
  m.series_cut |= told_until_ns(queue->bins.size(), definition.switches.max_bins, switches.bin_ns,
                                switches.end_ns) < switches.end_ns;
  m.burst_sojourn_seconds = statistics_of(queue->burst_sojourn_ns, 1e-9);
  m.interval_sojourn_seconds = statistics_of(queue->interval_sojourn_ns, 1e-9);
  measure_queue_bursts(*queue, definition.skip_iterations, excluded, m.samples);
}

// -- counters

/// Returns how often regulation and grants did something at a queue that it would not do else.
std::uint64_t acts_of(const sw::QueueReport& queue) {
  std::uint64_t acts = queue.pace.held + queue.window.rewritten + queue.window.spared_marks +
                       queue.beyond.rewritten + queue.steer.packets + queue.grant.acks_held;
  for (std::size_t c = 0; c < kTrafficClasses; ++c)
    acts += queue.marks.values[c][static_cast<std::size_t>(MarkReason::kRegulatedThreshold)];
  return acts;
}

std::uint64_t armed_in_vain(const sw::SwitchReport& switches) {
  std::uint64_t armed = 0, acts = 0;
  for (const auto& queue : switches.queues) {
    armed += queue.starts_armed + queue.starts_predicted + queue.beyond.starts_armed +
             queue.grant.entered;
    acts += acts_of(queue);
  }
  return acts == 0 ? armed : 0;
}

void count(const RunResult& result, CaseMetrics& m) {
  m.roce = result.traffic.roce;
  m.ledger_balanced =
      result.switches.ledger_balanced && result.traffic.ledger_balanced && result.mbufs_leaked == 0;
  for (const auto& queue : result.switches.queues) m.ledger_balanced &= balanced(queue);
  m.memory_waits = result.traffic.flights_exhausted + result.traffic.segments_exhausted +
                   result.traffic.disorders_exhausted + result.traffic.mbuf_exhausted;
  m.device_rx_missed = result.switches.device_rx_missed;
  m.device_rx_nombuf = result.switches.device_rx_nombuf;
  m.device_rx_errors = result.switches.device_rx_errors;
  m.devices_count = result.switches.devices_not_counting.empty();
  m.late = result.traffic.late_iterations;
  for (const PortPackets& capture : result.captures) m.packets_not_captured += capture.missed;
  for (const auto& group : result.traffic.flow_groups) m.records_not_kept += group.records_lost;
  for (const auto& pair : result.traffic.requests) m.records_not_kept += pair.samples_not_kept;
}

// -- the run as a whole

double goodput(const tg::GeneratorReport& traffic, TrafficClass c, std::int64_t from,
               std::int64_t to) {
  if (to <= from) return kNotDefined;
  const RunningTotal delivered(traffic.bins, traffic.bin_ns,
                               [c](const tg::GoodputBin& b) { return b.delivered_bytes[c]; });
  if (delivered.empty()) return kNotDefined;
  return delivered.between(from, to) * 8 / to_seconds(to - from);
}

/// Returns whether every packet of background that arrives adds to its goodput. An answer to a
/// request does only when it is complete.
bool counts_as_it_arrives(const tg::GeneratorConfig& traffic) {
  const bool any =
      !traffic.long_flows.empty() || !traffic.flows.empty() || !traffic.captures.empty();
  return any && traffic.requests.empty();
}

void measure_goodput(const Case& definition, const tg::GeneratorReport& traffic, CaseMetrics& m) {
  const std::int64_t told_ns = told_until_ns(traffic.bins.size(), definition.traffic.max_bins,
                                             traffic.bin_ns, traffic.end_ns);
  m.series_cut |= told_ns < traffic.end_ns ||
                  traffic.connections.size() >= definition.traffic.max_connection_samples;
  auto [from, to] = measured_span_ns(definition, traffic);
  to = std::min(to, told_ns);
  m.measured_from_seconds = to_seconds(from);
  m.measured_to_seconds = to_seconds(to);
  m.background_goodput_bits_per_second = goodput(traffic, TrafficClass::kBackground, from, to);
  m.ddl_goodput_bits_per_second = goodput(traffic, TrafficClass::kDdl, from, to);
  m.background_silent =
      counts_as_it_arrives(definition.traffic) && m.background_goodput_bits_per_second == 0;
}

void measure_noise(const Case& definition, CaseMetrics& m) {
  const sw::SwitchPortConfig* port = find_port(definition);
  if (port != nullptr && port->drain_rate.bits_per_second > 0) {
    constexpr double kFullFrameBits = 8.0 * wire_bytes(14 + 1500);
    m.noise.tolerated_gap_seconds = port->queue.limit_packets * kFullFrameBits /
                                    static_cast<double>(port->drain_rate.bits_per_second) / 10;
  }
}

/// Flags disturbed iterations. @return the flagged ones if they shall be left out, else none
Excluded flag(std::vector<IterationBursts>& pushes, const Case& definition, Runtime runtime,
              const RunResult& result, Flagged flagged, Noise& noise) {
  Excluded excluded;
  if (runtime == Runtime::kVirtual || std::isnan(noise.tolerated_gap_seconds)) return excluded;
  const sw::QueueReport* queue = find_queue(result.switches, definition.measured_queue);
  flag_disturbed(pushes, result, clock_offset_ns(runtime, queue, result.traffic),
                 from_seconds(noise.tolerated_gap_seconds));
  for (const auto& it : pushes) {
    if (!it.flagged) continue;
    ++noise.iterations_flagged;
    if (flagged == Flagged::kExcluded) excluded.emplace(it.job, it.iteration);
  }
  noise.iterations_excluded = excluded.size();
  return excluded;
}

}  // namespace

std::int64_t clock_offset_ns(Runtime runtime, const sw::QueueReport* queue,
                             const tg::GeneratorReport& traffic) {
  if (runtime == Runtime::kVirtual || queue == nullptr) return 0;
  std::map<BurstIdentity, std::int64_t> first_sent;
  for (const auto& b : traffic.bursts)
    if (b.first_sent_ns != tg::kNotYet_ns) first_sent[b.identity] = b.first_sent_ns;
  std::vector<std::int64_t> offsets;
  for (const auto& r : queue->bursts)
    if (const auto it = first_sent.find(r.identity); it != first_sent.end())
      offsets.push_back(r.first_at_ns - it->second);
  if (offsets.empty()) return 0;
  const auto middle = offsets.begin() + static_cast<std::ptrdiff_t>(offsets.size() / 2);
  std::ranges::nth_element(offsets, middle);
  return *middle;
}

CaseMetrics measure(const Case& definition, Runtime runtime, const RunResult& result,
                    Flagged flagged) {
  CaseMetrics m;
  m.has_job = definition.has_job;
  const sw::QueueReport* queue = find_queue(result.switches, definition.measured_queue);
  auto pushes = iterations_of(definition, result.traffic, BurstDirection::kPush);
  measure_noise(definition, m);
  const Excluded excluded = flag(pushes, definition, runtime, result, flagged, m.noise);
  measure_pushes(definition, pushes, excluded, m);
  measure_pulls(iterations_of(definition, result.traffic, BurstDirection::kPull), excluded, m);
  measure_iterations(definition, result.traffic, excluded, m);
  measure_parameters(definition, result.traffic, excluded, m.samples);
  m.learning = measure_learning(definition, result.traffic, excluded);
  m.jobs = measure_jobs(definition, result.traffic);
  if (result.links) {
    m.links = measure_links(*result.links);
    add_worst_links(*result.links, m.jobs);
  }
  describe_queue(definition, result.switches, queue, excluded, m);
  measure_goodput(definition, result.traffic, m);
  count(result, m);
  m.signals = {.ack_timeouts = result.traffic.ack_timeouts,
               .armed_in_vain = armed_in_vain(result.switches)};
  m.paths = path_balance(definition.switches, result.switches);
  m.lossless = std::ranges::any_of(definition.switches.switches, sw::has_lossless);
  m.lossless_drops = lossless_drops(definition, result.switches);
  m.background_dip = background_dip(pushes, definition.base_rtt, result.traffic);
  m.background_floor = background_floor(definition, result);
  m.burst_peaks = burst_peaks(definition, result);
  m.flow_shares = flow_shares(result.traffic.connections);
  m.flow_times = flow_times(result.traffic);
  m.request_times = request_times(result.traffic);
  m.captures = capture_totals(result.traffic);
  m.groups = measure_groups(definition, result.traffic);
  return m;
}

AloneMetrics measure_alone(const Case& definition, const RunResult& alone) {
  CaseMetrics m;
  measure_pushes(definition, iterations_of(definition, alone.traffic, BurstDirection::kPush), {},
                 m);
  measure_iterations(definition, alone.traffic, {}, m);
  return {.communication_seconds = std::move(m.samples.communication_seconds),
          .iteration_seconds = std::move(m.samples.iteration_seconds),
          .incomplete = m.incomplete,
          .push_bursts = m.push_bursts,
          .push_rtos = m.push_rtos};
}

}  // namespace outrider::lab
