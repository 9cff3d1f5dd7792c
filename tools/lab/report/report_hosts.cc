#include "tools/lab/report/report_hosts.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "tools/lab/report/report_rows.h"

namespace outrider::lab {

namespace {

constexpr std::size_t kHostCells = 150;     // a phone's figure is about 250 pixels wide
constexpr std::size_t kWindows = 12;        // of an arm; a page of many jobs must not grow
constexpr std::size_t kWindowBursts = 400;  // in a window
constexpr std::int64_t kWindowMargin = 3;   // base RTTs before the first and after the last event
constexpr std::int64_t kUndelivered = 20;   // base RTTs shown at least of what did not arrive
constexpr std::size_t kNoLine = ~std::size_t{0};

/// The quantities of a window, in the order of its series.
constexpr BinQuantity kShown[] = {kQueue, kThreshold, kBackground};

double ms_between(std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) * 1e-6;
}

std::int64_t latest_of(const ReportBurst& b, std::int64_t at_least) {
  for (const auto& at : {b.due_ns, b.start_ns, b.ack_ns, b.first_sent_ns, b.delivered_ns})
    if (at) at_least = std::max(at_least, *at);
  return at_least;
}

/// Returns when the first of an iteration happened, and when the last.
std::pair<std::int64_t, std::int64_t> span_of(const ReportIteration& it, std::int64_t rtt_ns) {
  const std::int64_t from = std::min(*it.start_ns, *it.due_ns);
  std::int64_t to = from;
  bool all = it.delivered_ns.has_value();
  for (const auto* bursts : {&it.bursts, &it.pulls})
    for (const auto& b : *bursts) {
      to = latest_of(b, to);
      all = all && b.delivered_ns;
    }
  if (!all) to += std::max(to - from, kUndelivered * rtt_ns);
  return {from, to};
}

bool overlaps(const ReportBurst& b, std::int64_t from_ns, std::int64_t to_ns) {
  const std::int64_t begin = std::min(b.start_ns.value_or(*b.due_ns), *b.due_ns);
  return begin <= to_ns && (!b.delivered_ns || *b.delivered_ns >= from_ns);
}

ReportJson host_burst_json(const ReportIteration& it, const ReportBurst& b, bool push,
                           std::int64_t zero_ns) {
  const auto ms = [zero_ns](const std::optional<std::int64_t>& at) {
    return at ? short_number(ms_between(zero_ns, *at)) : ReportJson(nullptr);
  };
  return {it.job,       it.iteration,        b.worker,
          push ? 1 : 0, ms(b.due_ns),        ms(b.start_ns),
          ms(b.ack_ns), ms(b.first_sent_ns), ms(b.delivered_ns),
          b.rtos};
}

}  // namespace

HostLines::HostLines(const std::vector<ArmSummary>& arms, const std::vector<ReportRun>& runs,
                     std::int64_t rtt_ns)
    : runs_(runs), lines_(arms.size()), line_of_(runs.size(), kNoLine) {
  for (std::size_t a = 0; a < arms.size(); ++a) {
    const auto first = std::ranges::find_if(
        arms[a].cases, [&runs](std::size_t i) { return !runs[i].iterations.empty(); });
    if (first == arms[a].cases.end()) continue;
    lines_[a].run = *first;
    line_of_[*first] = a;
    std::set<std::int64_t> jobs;
    for (const auto& it : runs[*first].iterations) jobs.insert(it.job);
    for (const std::int64_t job : jobs) choose(lines_[a], job, rtt_ns);
  }
}

void HostLines::choose(Line& line, std::int64_t job, std::int64_t rtt_ns) {
  std::vector<const ReportIteration*> complete;
  const ReportIteration* incomplete = nullptr;
  for (const auto& it : runs_[line.run].iterations) {
    if (it.job != job) continue;
    if (it.delivered_ns) complete.push_back(&it);
    else if (incomplete == nullptr) incomplete = &it;
  }
  std::ranges::stable_sort(complete, {},
                           [](const auto* it) { return *it->delivered_ns - *it->due_ns; });
  if (!complete.empty()) {
    add_window(line, *complete[(complete.size() - 1) / 2], "median", rtt_ns);
    add_window(line, *complete.back(), "slowest", rtt_ns);
  }
  if (incomplete != nullptr) add_window(line, *incomplete, "incomplete", rtt_ns);
}

void HostLines::add_window(Line& line, const ReportIteration& iteration, const char* why,
                           std::int64_t rtt_ns) {
  for (auto& w : line.windows)
    if (w.iteration == &iteration) {
      w.why.push_back(why);
      return;
    }
  if (line.windows.size() >= kWindows) return;
  const auto [from, to] = span_of(iteration, rtt_ns);
  const std::int64_t zero = *iteration.due_ns, margin = kWindowMargin * rtt_ns;
  const TimeGrid grid = grid_between(from - margin - zero, to + margin - zero, 1, kHostCells);
  Window w{.why = {why},
           .iteration = &iteration,
           .grid = grid,
           .series = {std::size(kShown), AlignedSeries(grid)}};
  for (auto& s : w.series) s.begin_run({zero + runs_[line.run].switch_ahead_ns});
  line.windows.push_back(std::move(w));
}

void HostLines::add(std::size_t run, const QueueBinValues& bin) {
  if (line_of_[run] == kNoLine) return;
  Line& line = lines_[line_of_[run]];
  if (const auto threshold = bin.values[kThreshold])
    line.highest_threshold = std::max(line.highest_threshold.value_or(0), *threshold);
  line.no_threshold |= bin.no_threshold;
  for (auto& w : line.windows)
    for (std::size_t i = 0; i < std::size(kShown); ++i)
      if (const auto value = bin.values[kShown[i]])
        w.series[i].add(bin.begin_ns, bin.length_ns, *value);
}

ReportJson HostLines::window_json(const Line& line, const Window& w) const {
  const std::int64_t zero = *w.iteration->due_ns;
  const auto list = [&w](std::size_t series, double scale) {
    ReportJson out = ReportJson::array();
    for (const double v : w.series[series].band().mean) out.push_back(short_number(v * scale));
    return out;
  };
  ReportJson out{{"why", w.why},
                 {"job", w.iteration->job},
                 {"iteration", w.iteration->iteration},
                 {"from_ms", ms_between(0, w.grid.from_ns)},
                 {"step_ms", ms_between(0, w.grid.step_ns)},
                 {"cells", w.grid.cells},
                 {"queue", list(0, 1)},
                 {"threshold", list(1, 1)},
                 {"background", list(2, 1e-6)},
                 {"left_out", 0},
                 {"bursts", ReportJson::array()}};
  std::size_t left_out = 0;
  const auto put = [&](const ReportIteration& it, const ReportBurst& b, bool push) {
    if (!overlaps(b, zero + w.grid.from_ns, zero + w.grid.end_ns())) return;
    if (out["bursts"].size() < kWindowBursts)
      out["bursts"].push_back(host_burst_json(it, b, push, zero));
    else ++left_out;
  };
  const auto put_all = [&](const ReportIteration& it) {
    for (const auto& b : it.bursts) put(it, b, true);
    for (const auto& b : it.pulls) put(it, b, false);
  };
  put_all(*w.iteration);  // before what happened beside it, which there may be no room for
  for (const auto& it : runs_[line.run].iterations)
    if (&it != w.iteration) put_all(it);
  out["left_out"] = left_out;
  return out;
}

ReportJson HostLines::json(const ResultsReader& results, std::size_t arm) const {
  const Line& line = lines_[arm];
  if (line.windows.empty()) return nullptr;
  const auto metric = [&](const std::string& name) {
    const auto row = row_json(results, "SELECT value FROM case_metrics WHERE " + of_case(line.run) +
                                           " AND metric = '" + name + "'");
    return row.is_null() ? row : row.at("value");
  };
  const ReportJson goodput = metric("background_goodput_bits_per_second");
  ReportJson out{
      {"seed", runs_[line.run].seed},
      {"highest_threshold", line.highest_threshold && !line.no_threshold
                                ? ReportJson(*line.highest_threshold)
                                : nullptr},
      {"background_mbit",
       goodput.is_number() ? short_number(goodput.get<double>() * 1e-6) : ReportJson(nullptr)},
      {"regulated_share", metric("regulated_share")},
      {"jobs",
       rows_json(results,
                 "SELECT ifnull(name, '') AS name, workers, servers FROM jobs WHERE workers IS NOT "
                 "NULL AND " +
                     of_case(line.run) + " ORDER BY job")},
      {"windows", ReportJson::array()}};
  for (const auto& w : line.windows) out["windows"].push_back(window_json(line, w));
  return out;
}

}  // namespace outrider::lab
