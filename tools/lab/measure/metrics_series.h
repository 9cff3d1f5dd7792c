#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace outrider::lab {

[[nodiscard]] constexpr double to_seconds(std::int64_t ns) noexcept {
  return static_cast<double>(ns) / 1e9;
}

/// The running total of a time series of bins, linear within a bin. It gives the sum
/// between two instants with an error below the content of the two bins that they cut.
class RunningTotal {
 public:
  RunningTotal() = default;

  /// @param value returns the value of one bin
  template <class Bin, class Value>
  RunningTotal(const std::vector<Bin>& bins, std::int64_t bin_ns, Value value) : bin_ns_(bin_ns) {
    totals_.reserve(bins.size() + 1);
    totals_.push_back(0);
    for (const auto& bin : bins)
      totals_.push_back(totals_.back() + static_cast<double>(value(bin)));
  }

  [[nodiscard]] bool empty() const noexcept { return totals_.size() < 2 || bin_ns_ <= 0; }

  /// Returns the sum between two instants. Time outside the bins adds nothing.
  [[nodiscard]] double between(std::int64_t from_ns, std::int64_t to_ns) const noexcept {
    return empty() ? 0 : until(to_ns) - until(from_ns);
  }

 private:
  [[nodiscard]] double until(std::int64_t at_ns) const noexcept {
    const auto bins = static_cast<std::int64_t>(totals_.size()) - 1;
    const std::int64_t at = std::clamp<std::int64_t>(at_ns, 0, bins * bin_ns_);
    const std::int64_t index = std::min(at / bin_ns_, bins - 1);
    const double below = totals_[static_cast<std::size_t>(index)];
    const double above = totals_[static_cast<std::size_t>(index + 1)];
    const auto part = static_cast<double>(at - index * bin_ns_) / static_cast<double>(bin_ns_);
    return below + part * (above - below);
  }

  std::int64_t bin_ns_ = 0;
  std::vector<double> totals_;
};

}  // namespace outrider::lab
