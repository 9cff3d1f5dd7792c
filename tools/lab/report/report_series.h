#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/lab/measure/statistics.h"

namespace outrider::lab {

/// A grid of times relative to an instant, with cells of equal width.
struct TimeGrid {
  std::int64_t from_ns = 0;  ///< begin of the first cell, relative to the instant
  std::int64_t step_ns = 1;  ///< > 0
  std::size_t cells = 0;

  [[nodiscard]] std::int64_t end_ns() const noexcept {
    return from_ns + static_cast<std::int64_t>(cells) * step_ns;
  }
};

/// Returns a grid of at most `cells` cells that covers `from_ns` to `to_ns`. No cell is narrower
/// than `least_ns`.
/// @pre from_ns < to_ns, least_ns > 0, cells > 0
TimeGrid grid_between(std::int64_t from_ns, std::int64_t to_ns, std::int64_t least_ns,
                      std::size_t cells);

/// The distribution of an arm's iterations in each cell; NaN if less than half of them have a
/// value there.
struct Band {
  std::vector<double> mean;
  std::vector<double> low;   ///< 10 % of the iterations are below it
  std::vector<double> high;  ///< 90 % of the iterations are below it
};

/// Aligns a quantity over time around many instants, to aggregate it over them.
class AlignedSeries {
 public:
  explicit AlignedSeries(TimeGrid grid) : grid_(grid) {}

  /// Begins the iterations of one run. @param instants ascending, on the clock of add()
  void begin_run(std::vector<std::int64_t> instants);

  /// Adds that the quantity was `value` on average in [begin, begin + length). The value counts
  /// for every instant of this run whose grid this span overlaps.
  void add(std::int64_t begin_ns, std::int64_t length_ns, double value);

  [[nodiscard]] Band band() const;
  [[nodiscard]] const TimeGrid& grid() const noexcept { return grid_; }

 private:
  struct Cell {
    double sum = 0;               ///< value x time
    std::int64_t covered_ns = 0;  ///< time covered by bins with a value
  };

  void add_to(std::size_t iteration, std::int64_t begin_ns, std::int64_t end_ns, double value);

  TimeGrid grid_;
  std::vector<std::int64_t> instants_;      ///< of the current run
  std::size_t first_ = 0;                   ///< index of instants_[0] in cells_
  std::vector<std::vector<Cell>> cells_{};  ///< by iteration, all runs
};

}  // namespace outrider::lab
