#include "switch/control/live.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "switch/report/figures.h"

namespace outrider::sw {
namespace {

using Kind = LiveFigure::Kind;

/// Appends the figures that the live view shows and that are not zero. Figures with the same
/// label and reason are summed, over classes too.
void add_counts(std::vector<LiveFigure>& figures, const std::vector<FigureValue>& values) {
  std::vector<LiveFigure> counts;
  for (const FigureValue& v : values) {
    if (v.figure.live == nullptr) continue;
    std::string name = v.figure.live;
    if (!v.reason.empty()) name += ' ' + std::string(v.reason);
    const auto known = std::ranges::find(counts, name, &LiveFigure::name);
    if (known != counts.end()) known->now += v.value;
    else counts.push_back({std::move(name), Kind::kCount, 0, v.value});
  }
  for (auto& count : counts)
    if (count.now != 0) figures.push_back(std::move(count));
}

/// Returns the figures of the queues that the process does not count itself, and then those of
/// the process.
std::vector<FigureValue> of_process_and_queues(const SwitchReport& r) {
  const std::vector<FigureValue> process = figures_of(r);
  const auto counts = [&](const FigureValue& v) {
    return std::ranges::any_of(process, [&](const FigureValue& own) {
      return own.figure.live != nullptr && std::string_view(own.figure.live) == v.figure.live;
    });
  };
  std::vector<FigureValue> all;
  for (const auto& queue : r.queues)
    for (const FigureValue& v : figures_of(queue))
      if (v.figure.live != nullptr && !counts(v)) all.push_back(v);
  all.insert(all.end(), process.begin(), process.end());
  return all;
}

std::uint64_t total_of(const SwitchReport& r, std::uint64_t QueueCounts::*member) {
  std::uint64_t n = 0;
  for (const auto& queue : r.queues) n += queue.*member;
  return n;
}

std::uint64_t transmitted_bytes(const SwitchReport& r) {
  std::uint64_t n = 0;
  for (const auto& queue : r.queues) n += sum(queue.transmitted_bytes);
  return n;
}

std::string queue_name(const QueueReport& q) {
  return q.switch_name + '.' + q.port_name + '[' + std::to_string(q.queue) + ']';
}

bool shown(const QueueReport& q) { return sum(q.arrived) != 0; }

double interval_s(const SwitchReport& before, const SwitchReport& now) {
  return static_cast<double>(now.end_ns - before.end_ns) / 1e9;
}

/// Returns the earlier state of a queue, or zeros if there was none.
QueueReport before_of(const SwitchReport& before, std::size_t queue) {
  return queue < before.queues.size() ? before.queues[queue] : QueueReport{};
}

std::string reasons(const QueueReport& q) {
  std::string text;
  for (std::size_t r = 0; r < kDropReasons; ++r) {
    std::uint64_t n = 0;
    for (const auto& by_reason : q.drops.values) n += by_reason[r];
    if (n == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(n) + ' ' + std::string(kDropReasonNames[r]);
  }
  return text.empty() ? "-" : text;
}

std::string regulation_of(const QueueReport& q) {
  if (q.starts_armed == 0) return "-";
  std::string text = std::to_string(q.entries_left) + " of " + std::to_string(q.starts_armed);
  if (q.held_packets != 0) text += ", held " + std::to_string(q.held_packets);
  return text;
}

/// Returns the bytes that a port has sent, as its rate counts them; absent if no packet ever came
/// to it.
std::optional<std::uint64_t> sent_bytes(const SwitchReport& r, const PortRate& port) {
  std::optional<std::uint64_t> bytes;
  for (const auto& q : r.queues)
    if (q.port_name == port.port_name && q.switch_name == port.switch_name && shown(q))
      bytes =
          bytes.value_or(0) + sum(q.transmitted_bytes) + sum(q.transmitted) * port.overhead_bytes;
  return bytes;
}

/// Returns the figures of the process and of its links.
std::vector<LiveFigure> with_links(const SwitchLive& before, const SwitchLive& now) {
  std::vector<LiveFigure> figures = live_figures(before.report, now.report);
  for (const PortRate& port : now.rates)
    if (const auto bytes = sent_bytes(now.report, port))
      figures.push_back({.name = "link " + port.switch_name + '.' + port.port_name,
                         .kind = Kind::kLink,
                         .before = sent_bytes(before.report, port).value_or(0),
                         .now = *bytes,
                         .rate = port.rate});
  return figures;
}

using Row = std::array<std::string, 9>;

Row row_of(const QueueReport& before, const QueueReport& q, double interval) {
  const auto rate = [interval](Kind kind, std::uint64_t then, std::uint64_t is) {
    return format_live({"", kind, then, is}, interval);
  };
  return {
      queue_name(q),
      std::to_string(sum(q.resident)),
      std::to_string(q.resident_bytes),
      rate(Kind::kPackets, sum(before.transmitted), sum(q.transmitted)),
      rate(Kind::kBytes, sum(before.transmitted_bytes), sum(q.transmitted_bytes)),
      q.background_threshold_packets == ~0U ? "-" : std::to_string(q.background_threshold_packets),
      std::to_string(sum(q.marks)),
      regulation_of(q),
      reasons(q)};
}

void append_rows(std::vector<std::string>& lines, const std::vector<Row>& rows) {
  std::array<std::size_t, std::tuple_size_v<Row>> width{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  for (const auto& row : rows) {
    std::string line = row[0] + std::string(width[0] - row[0].size(), ' ');
    for (std::size_t i = 1; i < row.size(); ++i) {
      const bool last = i + 1 == row.size();  // text; the others are numbers, right-aligned
      line += "  " + (last ? "" : std::string(width[i] - row[i].size(), ' ')) + row[i];
    }
    lines.push_back(std::move(line));
  }
}

}  // namespace

std::vector<LiveFigure> live_figures(const SwitchReport& before, const SwitchReport& now) {
  std::vector<LiveFigure> figures{
      {"received", Kind::kPackets, before.received, now.received},
      {"transmitted", Kind::kPackets, before.transmitted, now.transmitted},
      {"throughput", Kind::kBytes, transmitted_bytes(before), transmitted_bytes(now)},
      {"queued", Kind::kCount, 0, now.resident},
      {"regulations", Kind::kCount, 0, total_of(now, &QueueCounts::entries_left)},
  };
  add_counts(figures, of_process_and_queues(now));
  if (!now.devices_not_counting.empty()) {
    std::string devices;
    for (const auto& name : now.devices_not_counting)
      devices += (devices.empty() ? "" : ", ") + name;
    figures.push_back({"lost before, at " + devices, Kind::kNotCounted});
  }
  return figures;
}

std::vector<LiveFigure> live_figures(const QueueReport& before, const QueueReport& now) {
  std::vector<LiveFigure> figures{
      {"waiting", Kind::kCount, 0, sum(now.resident)},
      {"waiting bytes", Kind::kCount, 0, now.resident_bytes},
      {"transmitted", Kind::kPackets, sum(before.transmitted), sum(now.transmitted)},
      {"throughput", Kind::kBytes, sum(before.transmitted_bytes), sum(now.transmitted_bytes)},
  };
  if (now.starts_armed != 0) {
    figures.push_back({"threshold", Kind::kCount, 0, now.background_threshold_packets});
    figures.push_back({"regulations", Kind::kCount, 0, now.entries_left});
    figures.push_back({"armed", Kind::kCount, 0, now.starts_armed});
  }
  if (now.pace.held != 0) figures.push_back({"held", Kind::kCount, 0, now.held_packets});
  add_counts(figures, figures_of(now));
  return figures;
}

std::vector<std::string> live_table(const SwitchLive& before_all, const SwitchLive& now_all) {
  const SwitchReport& before = before_all.report;
  const SwitchReport& now = now_all.report;
  const double interval = interval_s(before, now);
  const auto figures = with_links(before_all, now_all);
  std::vector<std::string> lines{"time " + format_seconds(static_cast<double>(now.end_ns) / 1e9)};
  for (std::size_t i = 0; i < figures.size(); ++i) {
    std::string text = figures[i].name + ' ' + format_live(figures[i], interval);
    if (i < 5) lines[0] += "  " + text;
    else lines.push_back("  " + std::move(text));
  }
  std::vector<Row> rows{{"queue", "packets", "bytes", "sent [pps]", "sent [bit/s]", "threshold",
                         "marked", "regulations", "dropped"}};
  for (std::size_t q = 0; q < now.queues.size(); ++q)
    if (shown(now.queues[q])) rows.push_back(row_of(before_of(before, q), now.queues[q], interval));
  append_rows(lines, rows);
  return lines;
}

std::string live_lines(const SwitchLive& before_all, const SwitchLive& now_all) {
  const SwitchReport& before = before_all.report;
  const SwitchReport& now = now_all.report;
  const double interval = interval_s(before, now);
  std::string text = live_line(format_seconds(static_cast<double>(now.end_ns) / 1e9),
                               with_links(before_all, now_all), interval);
  for (std::size_t q = 0; q < now.queues.size(); ++q)
    if (shown(now.queues[q]))
      text += "  " + live_line(queue_name(now.queues[q]),
                               live_figures(before_of(before, q), now.queues[q]), interval);
  return text;
}

void show_live(LiveView& view, const SwitchLive& before, const SwitchLive& now) {
  if (view.terminal()) view.redraw(live_table(before, now));
  else view.write(live_lines(before, now));
}

}  // namespace outrider::sw
