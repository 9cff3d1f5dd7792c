#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/config_result.h"

namespace outrider::tg {

/// Sizes of flows, as a piecewise linear cumulative distribution.
///
/// A file has two numbers a line, bytes and the share of flows of at most that
/// size, both rising; `#` begins a comment. The last share is 1. Between two points
/// the distribution is linear; a first point with a share above 0 is an atom: that
/// share of flows has exactly this size.
class FlowSizes {
 public:
  struct Point {
    double bytes = 0;
    double share = 0;  ///< of flows of at most so many bytes
  };

  /// @pre points obey the rules of the file, see parse_flow_sizes()
  explicit FlowSizes(std::vector<Point> points) : points_(std::move(points)) {}

  /// Inverse transform. @param uniform in [0, 1)
  /// @return at least 1 byte
  [[nodiscard]] std::uint64_t at(double uniform) const noexcept;
  /// Of the linear distribution, before sizes become whole bytes. [bytes]
  [[nodiscard]] double mean_bytes() const noexcept;
  [[nodiscard]] const std::vector<Point>& points() const noexcept { return points_; }

 private:
  std::vector<Point> points_;  ///< both members never fall
};

/// Faults name the line and the rule that it breaks.
ConfigResult<FlowSizes> parse_flow_sizes(std::string_view text);
/// Reads a file. @return also a fault if it cannot be read
ConfigResult<FlowSizes> load_flow_sizes(const std::string& path);

}  // namespace outrider::tg
