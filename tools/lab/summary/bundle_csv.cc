#include "tools/lab/summary/bundle_csv.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "common/telemetry/csv_text.h"
#include "tools/lab/measure/metrics.h"
#include "tools/lab/measure/metrics_iterations.h"
#include "tools/lab/measure/metrics_series.h"

namespace outrider::lab {

namespace {

constexpr std::size_t kCoarse = 100;  // bins together, between bursts
constexpr std::int64_t kMargin_rtts = 20;

void instant(std::ostream& out, std::int64_t ns) {
  out << ',';
  if (ns != tg::kNotYet_ns) out << ns;
}

struct RunName {
  std::size_t index;
  const Case* definition;
  const char* run;
};

std::ostream& operator<<(std::ostream& out, const RunName& name) {
  return out << name.index << ',' << csv_text(name.definition->label) << ','
             << name.definition->seed << ',' << name.run;
}

/// Calls f(RunName, RunResult) for each run of the experiment.
template <class F>
void for_each_run(const Experiment& experiment, F f) {
  for (std::size_t i = 0; i < experiment.runs.size(); ++i) {
    const CaseRun& run = experiment.runs[i];
    f(RunName{i, run.definition, "measured"}, run.result);
    if (run.alone) f(RunName{i, run.definition, "alone"}, *run.alone);
  }
}

// -- bursts

void write_identity(std::ostream& out, const BurstIdentity& id) {
  out << ',' << id.job << ',' << id.worker << ',' << id.iteration << ','
      << (id.direction == BurstDirection::kPush ? "push" : "pull");
}

void write_sender_columns(std::ostream& out, const tg::BurstRecord* b) {
  if (b == nullptr) {
    out << ",,,,,,,,,,,,,";
    return;
  }
  out << ',' << b->bytes;
  for (const auto at : {b->due_ns, b->start_sent_ns, b->ack_received_ns, b->released_ns,
                        b->first_sent_ns, b->delivered_ns})
    instant(out, at);
  out << ',' << b->rtos << ',' << b->retransmitted << ',' << (b->ack_timed_out ? 1 : 0) << ','
      << b->delivered_bytes << ',' << b->lost_bytes << ',' << b->unsent_bytes;
}

void write_queue_columns(std::ostream& out, const sw::QueueBurstRecord* r) {
  if (r == nullptr) {
    out << ",,,,,,,,,";
    return;
  }
  instant(out, r->first_at_ns);
  instant(out, r->last_at_ns);
  for (const auto packets : r->start_packets.values) out << ',' << packets;
  out << ',' << r->start_bytes << ',' << r->max_packets << ',' << r->packets << ','
      << r->sojourn_ns;
}

void write_attribution_columns(std::ostream& out, const tg::BurstRecord* b) {
  for (std::size_t i = 0; i < kBurstTimes; ++i) {
    out << ',';
    if (b != nullptr && b->times) out << b->times->ns[i];
  }
}

void write_bursts_of(std::ostream& out, const RunName& name, const RunResult& result) {
  struct Records {
    const tg::BurstRecord* sender = nullptr;
    const sw::QueueBurstRecord* queue = nullptr;
  };
  std::map<BurstIdentity, Records> bursts;
  for (const auto& b : result.traffic.bursts) bursts[b.identity].sender = &b;
  if (const auto* queue = find_queue(result.switches, name.definition->measured_queue))
    for (const auto& r : queue->bursts) bursts[r.identity].queue = &r;
  for (const auto& [id, records] : bursts) {
    out << name;
    write_identity(out, id);
    write_sender_columns(out, records.sender);
    write_queue_columns(out, records.queue);
    write_attribution_columns(out, records.sender);
    out << '\n';
  }
}

// -- time series

/// Spans of time in which bins are written as they are, generator clock.
std::vector<std::pair<std::int64_t, std::int64_t>> fine_spans(const Case& definition,
                                                              const tg::GeneratorReport& traffic) {
  const std::int64_t margin = kMargin_rtts * definition.base_rtt.count();
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  for (const auto direction : {BurstDirection::kPush, BurstDirection::kPull})
    for (const auto& it : iterations_of(definition, traffic, direction))
      if (it.announced_ns != tg::kNotYet_ns)
        spans.emplace_back(it.announced_ns - margin,
                           (it.complete ? it.delivered_ns : traffic.end_ns) + margin);
  return spans;
}

/// Which bins are written alone.
std::vector<bool> fine_bins(const RunName& name, const RunResult& result, std::size_t bins,
                            std::int64_t offset_ns) {
  std::vector<bool> fine(bins, false);
  const std::int64_t width = result.switches.bin_ns;
  for (const auto& [from, to] : fine_spans(*name.definition, result.traffic)) {
    const std::int64_t first = std::max<std::int64_t>(from + offset_ns, 0) / width;
    const std::int64_t last = std::max<std::int64_t>(to + offset_ns, 0) / width;
    for (auto i = static_cast<std::size_t>(first); i <= static_cast<std::size_t>(last) && i < bins;
         ++i)
      fine[i] = true;
  }
  return fine;
}

sw::QueueBin joined(const std::vector<sw::QueueBin>& bins, std::size_t from, std::size_t to) {
  sw::QueueBin sum = bins[from];
  for (std::size_t i = from + 1; i < to; ++i) {
    for (std::size_t c = 0; c < kTrafficClasses; ++c)
      sum.bytes.values[c] += bins[i].bytes.values[c];
    sum.busy_ns += bins[i].busy_ns;
    sum.sojourn_ns += bins[i].sojourn_ns;
    sum.max_packets = std::max(sum.max_packets, bins[i].max_packets);
    // Zero: nothing arrived in that bin.
    if (const auto least = bins[i].min_threshold_packets; least != 0)
      sum.min_threshold_packets =
          sum.min_threshold_packets == 0 ? least : std::min(sum.min_threshold_packets, least);
  }
  return sum;
}

void write_queue_of(std::ostream& out, Runtime runtime, const RunName& name,
                    const RunResult& result) {
  const sw::QueueReport* queue = find_queue(result.switches, name.definition->measured_queue);
  const std::int64_t width = result.switches.bin_ns;
  if (queue == nullptr || queue->bins.empty() || width <= 0) return;
  const std::int64_t offset = clock_offset_ns(runtime, queue, result.traffic);
  const auto fine = fine_bins(name, result, queue->bins.size(), offset);
  const auto delivered = [&result](TrafficClass c) {
    return RunningTotal(result.traffic.bins, result.traffic.bin_ns,
                        [c](const tg::GoodputBin& b) { return b.delivered_bytes[c]; });
  };
  const RunningTotal background = delivered(TrafficClass::kBackground);
  const RunningTotal ddl = delivered(TrafficClass::kDdl);

  for (std::size_t from = 0, to = 0; from < queue->bins.size(); from = to) {
    to = from + 1;
    while (!fine[from] && to < fine.size() && !fine[to] && to - from < kCoarse) ++to;
    const sw::QueueBin bin = joined(queue->bins, from, to);
    const std::int64_t begin = static_cast<std::int64_t>(from) * width;
    const std::int64_t length = static_cast<std::int64_t>(to - from) * width;
    out << name << ',' << begin << ',' << length;
    for (const auto bytes : bin.bytes.values) out << ',' << bytes;
    out << ',' << bin.busy_ns << ',' << bin.max_packets << ',';
    if (bin.min_threshold_packets != 0) out << bin.min_threshold_packets;
    for (const RunningTotal* total : {&background, &ddl})
      out << ',' << std::llround(total->between(begin - offset, begin + length - offset));
    out << ',' << bin.sojourn_ns << '\n';
  }
}

}  // namespace

void write_bursts_csv(std::ostream& out, const Experiment& experiment) {
  out << "case,label,seed,run,job,worker,iteration,direction,bytes,due_ns,start_sent_ns,"
         "ack_received_ns,released_ns,first_sent_ns,delivered_ns,rtos,retransmitted_segments,"
         "ack_timed_out,delivered_bytes,lost_bytes,unsent_bytes,"
         "queue_first_at_ns,queue_last_at_ns,start_background_packets,"
         "start_ddl_packets,start_signal_packets,start_bytes,max_packets,packets,sojourn_sum_ns";
  for (const auto name : kBurstTimeNames) out << ",time_" << name << "_ns";
  out << '\n';
  for_each_run(experiment, [&out](const RunName& name, const RunResult& result) {
    write_bursts_of(out, name, result);
  });
}

void write_queue_csv(std::ostream& out, const Experiment& experiment) {
  out << "case,label,seed,run,begin_ns,length_ns,background_bytes,ddl_bytes,signal_bytes,busy_ns,"
         "max_packets,min_threshold_packets,background_delivered_bytes,ddl_delivered_bytes,"
         "sojourn_ns\n";
  for_each_run(experiment, [&](const RunName& name, const RunResult& result) {
    write_queue_of(out, experiment.runtime, name, result);
  });
}

void write_flows_csv(std::ostream& out, const Experiment& experiment) {
  out << "case,label,seed,run,flow,class,delivered_bytes,retransmitted_segments,rtos_data,"
         "rtos_handshake,fast_recoveries,ece_reductions\n";
  for_each_run(experiment, [&out](const RunName& name, const RunResult& result) {
    for (const auto& f : result.traffic.flows)
      out << name << ',' << csv_text(f.name) << ',' << name_of(f.traffic_class) << ','
          << f.delivered_bytes << ',' << f.retransmitted << ',' << f.rtos_data << ','
          << f.rtos_handshake << ',' << f.fast_recoveries << ',' << f.ece_reductions << '\n';
  });
}

}  // namespace outrider::lab
