#include "tools/lab/report/report_series.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace outrider::lab {

TimeGrid grid_between(std::int64_t from_ns, std::int64_t to_ns, std::int64_t least_ns,
                      std::size_t cells) {
  assert(from_ns < to_ns && least_ns > 0 && cells > 0);
  const std::int64_t span = to_ns - from_ns;
  const auto most = static_cast<std::int64_t>(cells);
  const std::int64_t step = std::max(least_ns, (span + most - 1) / most);
  return {from_ns, step, static_cast<std::size_t>((span + step - 1) / step)};
}

void AlignedSeries::begin_run(std::vector<std::int64_t> instants) {
  assert(std::ranges::is_sorted(instants));
  first_ = cells_.size();
  instants_ = std::move(instants);
  cells_.resize(first_ + instants_.size(), std::vector<Cell>(grid_.cells));
}

void AlignedSeries::add(std::int64_t begin_ns, std::int64_t length_ns, double value) {
  const std::int64_t end_ns = begin_ns + length_ns;
  // Begin with the first instant whose grid ends after the bin begins.
  auto it = std::ranges::upper_bound(instants_, begin_ns - grid_.end_ns());
  for (; it != instants_.end() && *it + grid_.from_ns < end_ns; ++it)
    add_to(static_cast<std::size_t>(it - instants_.begin()), begin_ns - *it, end_ns - *it, value);
}

void AlignedSeries::add_to(std::size_t iteration, std::int64_t begin_ns, std::int64_t end_ns,
                           double value) {
  auto& cells = cells_[first_ + iteration];
  const std::int64_t from = std::max(begin_ns, grid_.from_ns);
  const std::int64_t to = std::min(end_ns, grid_.end_ns());
  for (std::int64_t at = from; at < to;) {
    const auto i = static_cast<std::size_t>((at - grid_.from_ns) / grid_.step_ns);
    const std::int64_t next =
        std::min(to, grid_.from_ns + static_cast<std::int64_t>(i + 1) * grid_.step_ns);
    cells[i].sum += value * static_cast<double>(next - at);
    cells[i].covered_ns += next - at;
    at = next;
  }
}

Band AlignedSeries::band() const {
  Band band;
  for (std::size_t i = 0; i < grid_.cells; ++i) {
    std::vector<double> values;
    for (const auto& cells : cells_)
      if (const Cell& c = cells[i]; 2 * c.covered_ns >= grid_.step_ns)
        values.push_back(c.sum / static_cast<double>(c.covered_ns));
    if (values.empty() || 2 * values.size() < cells_.size()) values.clear();
    band.mean.push_back(mean(values));
    band.low.push_back(quantile(values, 0.1));
    band.high.push_back(quantile(values, 0.9));
  }
  return band;
}

}  // namespace outrider::lab
