#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/config_result.h"

namespace outrider::tg {

/// A distribution of flow sizes, as a piecewise linear cumulative distribution.
///
/// Each line of its file has two numbers: bytes, and the share of flows of at most that size. Both
/// rise; `#` begins a comment. The last share is 1. Between two points the distribution is linear.
/// A first point with a share above 0 is an atom: that share of flows has exactly this size.
class FlowSizes {
 public:
  struct Point {
    double bytes = 0;
    double share = 0;  ///< of flows with at most these bytes
  };

  /// @pre points obey the rules of the file, see parse_flow_sizes()
  explicit FlowSizes(std::vector<Point> points) : points_(std::move(points)) {}

  /// Returns a size of at least 1 byte, by inverse transform. @param uniform in [0, 1)
  [[nodiscard]] std::uint64_t at(double uniform) const noexcept;
  /// Returns the mean of the linear distribution, before sizes are rounded to bytes [bytes].
  [[nodiscard]] double mean_bytes() const noexcept;
  [[nodiscard]] const std::vector<Point>& points() const noexcept { return points_; }

 private:
  std::vector<Point> points_;  ///< neither member ever decreases
};

/// Parses a file's text. Faults name the line and the rule that it breaks.
ConfigResult<FlowSizes> parse_flow_sizes(std::string_view text);
/// Reads a file. @return a fault also if the file cannot be read
ConfigResult<FlowSizes> load_flow_sizes(const std::string& path);

}  // namespace outrider::tg
