#include "tools/lab/results/queue_tables.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tools/lab/measure/metrics.h"
#include "tools/lab/measure/metrics_iterations.h"
#include "tools/lab/measure/metrics_series.h"

namespace outrider::lab {

namespace {

constexpr std::size_t kCoarse = 100;  // bins that are put together between bursts
constexpr std::int64_t kMargin_rtts = 20;

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

/// The columns of a bin, up to what the tables differ in.
std::vector<TableColumn> bin_columns() {
  return {{"begin_ns", CellKind::kInteger, "by the switch's clock"},
          {"length_ns", CellKind::kInteger, "of the bin, or of the bins that are taken together"},
          {"background_bytes", CellKind::kInteger, "of frames of background that left"},
          {"ddl_bytes", CellKind::kInteger, "of frames of jobs that left"},
          {"signal_bytes", CellKind::kInteger, "of frames of signals that left"},
          {"busy_ns", CellKind::kInteger, "in which the transmitter was occupied"},
          {"max_packets", CellKind::kInteger, "largest occupancy"},
          {"min_threshold_packets", CellKind::kInteger,
           "lowest effective threshold for background; empty: nothing arrived"}};
}

TableColumn sojourn_column() {
  return {"sojourn_ns", CellKind::kInteger,
          "sum over the packets that left; over length_ns it is the mean occupancy"};
}

/// @param bin  nullptr: the queue says nothing of this time
void add_bin(RunRows& rows, std::int64_t begin_ns, std::int64_t length_ns,
             const sw::QueueBin* bin) {
  rows.add(begin_ns, length_ns);
  if (bin == nullptr) return void(rows.add_empty(kTrafficClasses + 3));
  for (const auto bytes : bin->bytes.values) rows.add(bytes);
  const auto least = bin->min_threshold_packets;
  rows.add(bin->busy_ns, bin->max_packets, least != 0 ? cell_of(least) : Cell{});
}

Cell sojourn_of(const sw::QueueBin* bin) {
  return bin == nullptr ? Cell{} : cell_of(bin->sojourn_ns);
}

}  // namespace

std::vector<TableColumn> queue_columns() {
  auto columns = bin_columns();
  columns.insert(columns.end(), {{"background_delivered_bytes", CellKind::kInteger,
                                  "payload of background delivered in order, all hosts"},
                                 {"ddl_delivered_bytes", CellKind::kInteger, "the same of jobs"},
                                 sojourn_column()});
  return columns;
}

void write_queue_of(RunRows& rows, Runtime runtime, const RunName& name, const RunResult& result) {
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
    add_bin(rows, begin, length, bin);
    for (const RunningTotal* total : {&background, &ddl})
      rows.add(std::llround(total->between(begin - offset, begin + length - offset)));
    rows.add(sojourn_of(bin)).end();
  };
  for_each_line(name, result, *queue, offset, put);
}

std::vector<TableColumn> queues_columns() {
  std::vector<TableColumn> columns{{"port", CellKind::kText, "SWITCH.PORT"},
                                   {"queue", CellKind::kInteger, "number in the port"}};
  const auto bins = bin_columns();
  columns.insert(columns.end(), bins.begin(), bins.end());
  columns.push_back(sojourn_column());
  return columns;
}

// Their clock is that of the measured queue.
void write_queues_of(RunRows& rows, Runtime runtime, const RunName& name, const RunResult& result) {
  const sw::QueueReport* measured = find_queue(result.switches, name.definition->measured_queue);
  const std::int64_t offset = clock_offset_ns(runtime, measured, result.traffic);
  for (const sw::QueueReport& queue : result.switches.queues) {
    if (!is_observed(*name.definition, queue)) continue;
    const std::string port = queue.switch_name + '.' + queue.port_name;
    const auto put = [&](std::int64_t begin, std::int64_t length, const sw::QueueBin* bin) {
      rows.add(port, queue.queue);
      add_bin(rows, begin, length, bin);
      rows.add(sojourn_of(bin)).end();
    };
    for_each_line(name, result, queue, offset, put);
  }
}

namespace {

struct SpanKind {
  const char* name;
  std::vector<TimeSpan> sw::QueueReport::*spans;
};
constexpr SpanKind kSpanKinds[] = {{"regulated", &sw::QueueReport::regulated},
                                   {"stopped", &sw::QueueReport::stopped},
                                   {"stops neighbour", &sw::QueueReport::stops_neighbour}};

}  // namespace

std::vector<TableColumn> span_columns() {
  return {{"of", CellKind::kText, "SWITCH.PORT.QUEUE"},
          {"kind", CellKind::kText,
           "regulated: with regulation in force; stopped: its neighbour had paused it (PFC); stops "
           "neighbour: as it told it"},
          {"begin_ns", CellKind::kInteger, "by the switch's clock"},
          {"end_ns", CellKind::kInteger, "or the end of the run"}};
}

void write_spans_of(RunRows& rows, Runtime, const RunName&, const RunResult& result) {
  for (const sw::QueueReport& queue : result.switches.queues)
    for (const SpanKind& kind : kSpanKinds)
      for (const TimeSpan& span : queue.*kind.spans)
        rows.add(name_of(queue), kind.name, span.begin_ns, span.end_ns).end();
}

bool has_spans(const Case&, const RunResult& result) {
  return std::ranges::any_of(result.switches.queues, [](const sw::QueueReport& queue) {
    return std::ranges::any_of(kSpanKinds,
                               [&queue](const SpanKind& k) { return !(queue.*k.spans).empty(); });
  });
}

}  // namespace outrider::lab
