#include "tools/lab/summary/bundle_csv.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "switch/report/report_fields.h"
#include "tools/lab/experiment/summary_points.h"
#include "tools/lab/measure/metrics.h"
#include "tools/lab/measure/metrics_iterations.h"
#include "tools/lab/measure/metrics_series.h"
#include "tools/lab/summary/bundle_columns.h"
#include "tools/lab/summary/bundle_fabric.h"
#include "tools/lab/summary/bundle_histograms.h"
#include "tools/lab/summary/group_figures.h"
#include "trafficgen/report/report_fields.h"

namespace outrider::lab {

namespace {

constexpr std::size_t kCoarse = 100;  // bins that are put together between bursts
constexpr std::int64_t kMargin_rtts = 20;

// -- bursts

/// The parts of a line of bursts.csv. Both records begin with the burst's identity. The sender's
/// record ends with the times of attribution, which are the last columns.
struct BurstLine {
  Cells identity, sender, queue, times;
};

BurstLine in_parts(const Cells& sender, const Cells& queue) {
  static const auto kIdentity = static_cast<std::ptrdiff_t>(columns_of<BurstIdentity>().size());
  const auto times = sender.end() - static_cast<std::ptrdiff_t>(kBurstTimes);
  return {.identity = {sender.begin(), sender.begin() + kIdentity},
          .sender = {sender.begin() + kIdentity, times},
          .queue = {queue.begin() + kIdentity, queue.end()},
          .times = {times, sender.end()}};
}

void put(std::ostream& out, const BurstLine& line) {
  for (const Cells* part : {&line.identity, &line.sender, &line.queue, &line.times})
    put_cells(out, *part);
  out << '\n';
}

/// Returns the empty columns of a record that is missing.
template <class R>
Cells blank_cells() {
  return Cells(columns_of<R>().size());
}

void write_bursts_of(std::ostream& out, Runtime, const RunName& name, const RunResult& result) {
  struct Records {
    const tg::BurstRecord* sender = nullptr;
    const sw::QueueBurstRecord* queue = nullptr;
  };
  std::map<BurstIdentity, Records> bursts;
  for (const auto& b : result.traffic.bursts) bursts[b.identity].sender = &b;
  if (const auto* queue = find_queue(result.switches, name.definition->measured_queue))
    for (const auto& r : queue->bursts) bursts[r.identity].queue = &r;
  const Cells no_sender = blank_cells<tg::BurstRecord>();
  const Cells no_queue = blank_cells<sw::QueueBurstRecord>();
  for (const auto& [id, records] : bursts) {
    BurstLine line = in_parts(records.sender != nullptr ? cells_of(*records.sender) : no_sender,
                              records.queue != nullptr ? cells_of(*records.queue) : no_queue);
    line.identity = cells_of(id);
    out << name;
    put(out, line);
  }
}

// -- time series

/// Returns the spans of time in which every bin is written alone, generator clock.
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

/// Says for every bin whether it is written alone.
std::vector<bool> fine_bins(const RunName& name, const RunResult& result, std::size_t bins,
                            std::int64_t offset_ns) {
  std::vector<bool> fine(bins, false);
  const std::int64_t width = result.switches.bin_ns;
  auto spans = fine_spans(*name.definition, result.traffic);
  // Goodputs are over this span, which need not end with a coarse bin.
  const auto [begin, end] = measured_span_ns(*name.definition, result.traffic);
  if (begin < end) spans.insert(spans.end(), {{begin, begin}, {end, end}});
  for (const auto& [from, to] : spans) {
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
    // Zero means that nothing arrived in that bin.
    if (const auto least = bins[i].min_threshold_packets; least != 0)
      sum.min_threshold_packets =
          sum.min_threshold_packets == 0 ? least : std::min(sum.min_threshold_packets, least);
  }
  return sum;
}

/// The bins of the measured queue, prolonged to the end of the generator's: what is delivered after
/// the queue's last packet counts too.
struct QueueSeries {
  std::vector<sw::QueueBin> bins{};
  std::size_t known = 0;  ///< bins of which the queue says something; those behind have no values
};

QueueSeries series_of(const RunName& name, const RunResult& result, const sw::QueueReport& queue,
                      std::int64_t offset_ns) {
  const std::int64_t width = result.switches.bin_ns;
  const std::int64_t delivered_ns =
      static_cast<std::int64_t>(result.traffic.bins.size()) * result.traffic.bin_ns + offset_ns;
  QueueSeries series{.bins = queue.bins};
  const auto to_deliveries =
      static_cast<std::size_t>(std::max<std::int64_t>(delivered_ns + width - 1, 0) / width);
  series.bins.resize(std::max(series.bins.size(), to_deliveries));
  // A series that is not full ends because no further packet came.
  const bool cut = queue.bins.size() >= name.definition->switches.max_bins;
  series.known = cut ? queue.bins.size() : series.bins.size();
  return series;
}

/// Writes a queue's cells up to `min_threshold_packets`. @param bin  nullptr: they are empty
void put_queue_cells(std::ostream& out, const sw::QueueBin* bin) {
  if (bin == nullptr) return void(out << std::string(kTrafficClasses + 3, ','));
  for (const auto bytes : bin->bytes.values) out << ',' << bytes;
  out << ',' << bin->busy_ns << ',' << bin->max_packets << ',';
  if (bin->min_threshold_packets != 0) out << bin->min_threshold_packets;
}

/// Calls `put(begin_ns, length_ns, bin)` for each line of a queue's series, by the switch's clock.
/// The bin is nullptr where the queue says nothing.
/// @param offset  the switch's clock less the generator's [ns]
template <class Put>
void for_each_line(const RunName& name, const RunResult& result, const sw::QueueReport& queue,
                   std::int64_t offset, Put put) {
  const std::int64_t width = result.switches.bin_ns;
  if (width <= 0) return;
  const auto [bins, known] = series_of(name, result, queue, offset);
  const auto fine = fine_bins(name, result, bins.size(), offset);
  for (std::size_t from = 0, to = 0; from < bins.size(); from = to) {
    to = from + 1;
    while (!fine[from] && to < fine.size() && !fine[to] && to - from < kCoarse && to != known) ++to;
    const sw::QueueBin bin = joined(bins, from, to);
    put(static_cast<std::int64_t>(from) * width, static_cast<std::int64_t>(to - from) * width,
        from < known ? &bin : nullptr);
  }
}

void write_queue_of(std::ostream& out, Runtime runtime, const RunName& name,
                    const RunResult& result) {
  const sw::QueueReport* queue = find_queue(result.switches, name.definition->measured_queue);
  if (queue == nullptr) return;
  const std::int64_t offset = clock_offset_ns(runtime, queue, result.traffic);
  const auto delivered = [&result](TrafficClass c) {
    return RunningTotal(result.traffic.bins, result.traffic.bin_ns,
                        [c](const tg::GoodputBin& b) { return b.delivered_bytes[c]; });
  };
  const RunningTotal background = delivered(TrafficClass::kBackground);
  const RunningTotal ddl = delivered(TrafficClass::kDdl);

  const auto put = [&](std::int64_t begin, std::int64_t length, const sw::QueueBin* bin) {
    out << name << ',' << begin << ',' << length;
    put_queue_cells(out, bin);
    for (const RunningTotal* total : {&background, &ddl})
      out << ',' << std::llround(total->between(begin - offset, begin + length - offset));
    out << ',';
    if (bin != nullptr) out << bin->sojourn_ns;
    out << '\n';
  };
  for_each_line(name, result, *queue, offset, put);
}

/// Writes the observed queues. Their clock is that of the measured one.
void write_queues_of(std::ostream& out, Runtime runtime, const RunName& name,
                     const RunResult& result) {
  const sw::QueueReport* measured = find_queue(result.switches, name.definition->measured_queue);
  const std::int64_t offset = clock_offset_ns(runtime, measured, result.traffic);
  for (const sw::QueueReport& queue : result.switches.queues) {
    if (!is_observed(*name.definition, queue)) continue;
    const auto put = [&](std::int64_t begin, std::int64_t length, const sw::QueueBin* bin) {
      out << name << ',' << queue.switch_name << '.' << queue.port_name << ',' << queue.queue << ','
          << begin << ',' << length;
      put_queue_cells(out, bin);
      out << ',';
      if (bin != nullptr) out << bin->sojourn_ns;
      out << '\n';
    };
    for_each_line(name, result, queue, offset, put);
  }
}

// -- groups of background

void write_groups_of(std::ostream& out, Runtime, const RunName& name, const RunResult& result) {
  if (std::string_view(name.run) != "measured") return;  // the other has no background
  for (const GroupMetrics& group : measure_groups(*name.definition, result.traffic)) {
    out << name << ',' << csv_text(group.name);
    for (const GroupFigure& figure : group_figures()) {
      out << ',';
      if (const double value = group.*figure.value; !std::isnan(value)) out << text_of(value);
    }
    out << '\n';
  }
}

std::string groups_head() {
  std::string head = std::string(kRunColumns) + ",group";
  for (const GroupFigure& figure : group_figures()) head += ',' + std::string(figure.name);
  return head + '\n';
}

// -- what else is written

std::string bursts_head() {
  BurstLine head = in_parts(columns_of<tg::BurstRecord>(), columns_of<sw::QueueBurstRecord>());
  head.times.clear();
  for (const auto name : kBurstTimeNames) head.times.push_back("time_" + std::string(name) + "_ns");
  std::ostringstream out;
  out << kRunColumns;
  put(out, head);
  return out.str();
}

std::string queue_head() {
  return std::string(kRunColumns) +
         ",begin_ns,length_ns,background_bytes,ddl_bytes,signal_bytes,busy_ns,"
         "max_packets,min_threshold_packets,background_delivered_bytes,ddl_delivered_bytes,"
         "sojourn_ns\n";
}

std::string queues_head() {
  return std::string(kRunColumns) +
         ",port,queue,begin_ns,length_ns,background_bytes,ddl_bytes,signal_bytes,busy_ns,"
         "max_packets,min_threshold_packets,sojourn_ns\n";
}

constexpr BundleTable kTables[] = {
    {"bursts.csv", bursts_head, write_bursts_of},
    {"queue.csv", queue_head, write_queue_of},
    {"queues.csv", queues_head, write_queues_of,
     [](const Case& definition, const RunResult&) { return !definition.observed.queues.empty(); }},
    {"flows.csv", head_of<tg::FlowReport>,
     [](std::ostream& out, Runtime, const RunName& name, const RunResult& result) {
       write_records(out, name, result.traffic.flows);
     }},
    {"connections.csv", head_of<tg::ConnectionSample>,
     [](std::ostream& out, Runtime, const RunName& name, const RunResult& result) {
       write_records(out, name, result.traffic.connections);
     },
     [](const Case&, const RunResult& result) { return !result.traffic.connections.empty(); }},
    {"groups.csv", groups_head, write_groups_of,
     [](const Case& definition, const RunResult&) {
       return !definition.background_groups.empty();
     }},
    {"histograms.csv", histograms_head, write_histograms_of},
    {"links.csv", links_head, write_links_of, has_links},
    {"link_slices.csv", link_slices_head, write_link_slices_of, has_link_series},
    {"iterations.csv", iterations_head, write_iterations_of, has_links}};

}  // namespace

std::span<const BundleTable> bundle_tables() { return kTables; }

}  // namespace outrider::lab
