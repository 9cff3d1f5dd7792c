#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/lab/measure/statistics.h"

namespace outrider::lab {

/// Times relative to an instant, in cells of equal width.
struct TimeGrid {
  std::int64_t from_ns = 0;  ///< of the first cell, relative to the instant
  std::int64_t step_ns = 1;  ///< > 0
  std::size_t cells = 0;

  [[nodiscard]] std::int64_t end_ns() const noexcept {
    return from_ns + static_cast<std::int64_t>(cells) * step_ns;
  }
};

/// At most `cells` of them from `from_ns` to `to_ns` at least, none narrower than `least_ns`.
/// @pre from_ns < to_ns, least_ns > 0, cells > 0
TimeGrid grid_between(std::int64_t from_ns, std::int64_t to_ns, std::int64_t least_ns,
                      std::size_t cells);

/// What the iterations of an arm have in common in a cell; NaN if less than half of them have
/// a value there.
struct Band {
  std::vector<double> mean;
  std::vector<double> low;   ///< 10 % of the iterations are below
  std::vector<double> high;  ///< 90 %
};

/// A quantity over time around each of many instants, laid on top of each other.
class AlignedSeries {
 public:
  explicit AlignedSeries(TimeGrid grid) : grid_(grid) {}

  /// Begins the iterations of one run. @param instants ascending, of the clock of add()
  void begin_run(std::vector<std::int64_t> instants);

  /// The quantity was `value` on average in [begin, begin + length); goes to every instant of
  /// this run whose grid it touches.
  void add(std::int64_t begin_ns, std::int64_t length_ns, double value);

  [[nodiscard]] Band band() const;
  [[nodiscard]] const TimeGrid& grid() const noexcept { return grid_; }

 private:
  struct Cell {
    double sum = 0;               ///< value x time
    std::int64_t covered_ns = 0;  ///< by bins that have a value
  };

  void add_to(std::size_t iteration, std::int64_t begin_ns, std::int64_t end_ns, double value);

  TimeGrid grid_;
  std::vector<std::int64_t> instants_;      ///< of this run
  std::size_t first_ = 0;                   ///< iteration of instants_[0] in cells_
  std::vector<std::vector<Cell>> cells_{};  ///< by iteration, all runs
};

}  // namespace outrider::lab
