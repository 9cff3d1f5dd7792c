#include "tools/lab/report/report_views.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

namespace outrider::lab {

namespace {

constexpr std::size_t kCells = 200;        // a figure is a few hundred pixels wide
constexpr std::int64_t kBeforeStart = 10;  // view start: base RTTs before the signal
constexpr std::int64_t kAfterBurst = 25;   // view start: base RTTs after the latest due
constexpr std::int64_t kBeforeDue = 5;     // view due: base RTTs around the burst and its lead
constexpr double kShownOfSlowest = 0.9;    // view due: share of the slowest arm's bursts that fit

/// The columns that are read, in this order.
struct QueueColumn {
  enum : std::uint8_t { kCase, kBegin, kLength, kLeast, kDelivered, kDdlDelivered, kSojourn };
};

constexpr const char* kBins =
    "SELECT case_index, begin_ns, length_ns, min_threshold_packets, background_delivered_bytes, "
    "ddl_delivered_bytes, sojourn_ns FROM queue WHERE run = 'measured' ORDER BY rowid";

QueueBinValues bin_of(const Query& row, std::int64_t length_ns) {
  const auto width = static_cast<double>(length_ns);
  const auto number = [&](std::size_t column) {
    return static_cast<double>(row.whole(column).value_or(0));
  };
  QueueBinValues bin{.begin_ns = row.whole(QueueColumn::kBegin).value_or(0),
                     .length_ns = length_ns};
  auto& values = bin.values;
  values[kQueue] = number(QueueColumn::kSojourn) / width;  // Little's law
  values[kBackground] = number(QueueColumn::kDelivered) * 8e9 / width;
  values[kDdl] = number(QueueColumn::kDdlDelivered) * 8e9 / width;
  if (const auto packets = row.whole(QueueColumn::kLeast)) {
    bin.no_threshold = *packets == std::numeric_limits<std::uint32_t>::max();
    if (!bin.no_threshold) values[kThreshold] = static_cast<double>(*packets);
  }
  return bin;
}

/// The iterations of one arm in one view.
class View {
 public:
  explicit View(const TimeGrid& grid) : series_(kBinQuantities, AlignedSeries(grid)) {}

  void begin_run(std::vector<std::int64_t> instants) {
    std::ranges::sort(instants);
    for (auto& s : series_) s.begin_run(instants);
  }

  void add(const QueueBinValues& bin) {
    for (std::size_t i = 0; i < kBinQuantities; ++i)
      if (const auto value = bin.values[i]) series_[i].add(bin.begin_ns, bin.length_ns, *value);
  }

  [[nodiscard]] ReportJson json() const {
    const auto list = [](const std::vector<double>& values, double scale) {
      ReportJson out = ReportJson::array();
      for (const double v : values) out.push_back(short_number(v * scale));
      return out;
    };
    const Band queue = series_[kQueue].band();
    return {{"queue",
             {{"mean", list(queue.mean, 1)},
              {"low", list(queue.low, 1)},
              {"high", list(queue.high, 1)}}},
            {"threshold", list(series_[kThreshold].band().mean, 1)},
            {"background", list(series_[kBackground].band().mean, 1e-6)},
            {"ddl", list(series_[kDdl].band().mean, 1e-6)}};
  }

 private:
  std::vector<AlignedSeries> series_;
};

struct ArmViews {
  explicit ArmViews(const ReportViews& views) : start(views.start), due(views.due) {}

  void begin_run(const ReportRun& run) {
    std::vector<std::int64_t> starts, dues;
    for (const auto& it : run.iterations) {
      starts.push_back(*it.start_ns + run.switch_ahead_ns);
      dues.push_back(*it.due_ns + run.switch_ahead_ns);
    }
    start.begin_run(std::move(starts));
    due.begin_run(std::move(dues));
  }

  View start;
  View due;
};

/// Returns the shortest bin of each case, because the table puts bins together between bursts.
std::vector<std::int64_t> bin_widths(const ResultsReader& results, std::size_t cases) {
  std::vector<std::int64_t> widths(cases, 0);
  Query row = results.query("SELECT case_index, min(length_ns) FROM queue GROUP BY case_index");
  while (row.next()) {
    const auto i = static_cast<std::size_t>(row.whole(0).value_or(-1));
    const std::int64_t length = row.whole(1).value_or(0);
    if (i >= cases || length <= 0)
      throw std::runtime_error("the table queue has case " + row.text(0) +
                               ", which the table cases does not have, or a bin without a length");
    widths[i] = length;
  }
  return widths;
}

ReportViews views_of_point(const std::vector<const ArmSummary*>& arms,
                           const std::vector<ReportRun>& runs, std::int64_t rtt_ns,
                           std::int64_t bin_ns) {
  std::int64_t lead = 0, burst = 0;
  for (const ArmSummary* arm : arms) {
    std::vector<double> times;
    for (const std::size_t i : arm->cases) {
      for (const auto& it : runs[i].iterations) lead = std::max(lead, *it.due_ns - *it.start_ns);
      const auto own = communication_seconds(runs[i].iterations);
      times.insert(times.end(), own.begin(), own.end());
    }
    if (const double slow = quantile(std::move(times), kShownOfSlowest); !std::isnan(slow))
      burst = std::max(burst, static_cast<std::int64_t>(slow * 1e9));
  }
  return {
      .start = grid_between(-kBeforeStart * rtt_ns, lead + kAfterBurst * rtt_ns, bin_ns, kCells),
      .due =
          grid_between(-lead - kBeforeDue * rtt_ns, burst + kBeforeDue * rtt_ns, bin_ns, kCells)};
}

std::vector<ReportViews> all_views(const std::vector<ArmSummary>& arms,
                                   const std::vector<ReportRun>& runs, std::int64_t rtt_ns,
                                   const std::vector<std::int64_t>& widths) {
  std::vector<std::vector<const ArmSummary*>> points;
  for (const auto& arm : arms) {
    if (arm.point >= points.size()) points.resize(arm.point + 1);
    points[arm.point].push_back(&arm);
  }
  std::vector<ReportViews> views;
  for (const auto& point : points) {
    std::int64_t bin = 1;
    for (const ArmSummary* arm : point)
      for (const std::size_t i : arm->cases) bin = std::max(bin, widths[i]);
    views.push_back(views_of_point(point, runs, rtt_ns, bin));
  }
  return views;
}

/// Fills the views of the arms while the cases are read in order. It closes an arm's
/// views once its last case has been read.
class Filling {
 public:
  Filling(const std::vector<ArmSummary>& arms, const std::vector<ReportRun>& runs,
          const std::vector<ReportViews>& views)
      : arms_(arms),
        runs_(runs),
        views_(views),
        arm_of_(runs.size(), arms.size()),
        open_(arms.size()),
        done_(arms.size()) {
    for (std::size_t a = 0; a < arms.size(); ++a)
      for (const std::size_t i : arms[a].cases) arm_of_[i] = a;
  }

  /// @return the views to which bins of this case are added; nullptr if it belongs to no arm
  ArmViews* of_case(std::size_t index) {
    const std::size_t a = arm_of_[index];
    if (a >= arms_.size()) return nullptr;
    if (index != current_) {
      for (std::size_t other = 0; other < arms_.size(); ++other)
        if (other != a && open_[other] && arms_[other].cases.back() < index) close(other);
      if (!open_[a]) open_[a].emplace(views_[arms_[a].point]);
      open_[a]->begin_run(runs_[index]);
      current_ = index;
    }
    return &*open_[a];
  }

  std::vector<ReportJson> finished() {
    for (std::size_t a = 0; a < arms_.size(); ++a)
      if (open_[a]) close(a);
    return std::move(done_);
  }

 private:
  void close(std::size_t a) {
    done_[a] = {{"start", open_[a]->start.json()}, {"due", open_[a]->due.json()}};
    open_[a].reset();
  }

  const std::vector<ArmSummary>& arms_;
  const std::vector<ReportRun>& runs_;
  const std::vector<ReportViews>& views_;
  std::vector<std::size_t> arm_of_;
  std::vector<std::optional<ArmViews>> open_;
  std::vector<ReportJson> done_;
  std::size_t current_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace

std::vector<ReportJson> queue_views(
    const ResultsReader& results, const std::vector<ArmSummary>& arms,
    const std::vector<ReportRun>& runs, std::int64_t rtt_ns, std::vector<ReportViews>& views,
    const std::function<void(std::size_t, const QueueBinValues&)>& hear) {
  const auto widths = bin_widths(results, runs.size());
  views = all_views(arms, runs, rtt_ns, widths);
  Filling filling(arms, runs, views);
  for (Query row = results.query(kBins); row.next();) {
    const auto index = static_cast<std::size_t>(row.whole(QueueColumn::kCase).value_or(0));
    const std::int64_t length = row.whole(QueueColumn::kLength).value_or(0);
    ArmViews* target = filling.of_case(index);
    if (target == nullptr || length != widths[index]) continue;
    const QueueBinValues bin = bin_of(row, length);
    target->start.add(bin);
    target->due.add(bin);
    hear(index, bin);
  }
  return filling.finished();
}

}  // namespace outrider::lab
