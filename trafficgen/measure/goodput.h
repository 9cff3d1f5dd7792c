#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

#include "common/core/clock.h"
#include "common/core/per_reason.h"
#include "common/core/traffic_class.h"

namespace outrider::tg {

/// One bin of the receivers' time series.
struct GoodputBin {
  PerClass<std::uint64_t> delivered_bytes{};  ///< payload, in order
};

/// Records the payload that receivers got in order, by class, in bins of fixed width: bin i covers
/// [i, i + 1) x width. Bins are reserved at construction; payload after the last bin is only added
/// to the totals. Time may fall back, as it does where event loops take turns. Not thread-safe.
class GoodputSeries {
 public:
  GoodputSeries(Duration width, std::uint32_t max_bins) : width_(width), max_bins_(max_bins) {
    assert(width > Duration::zero());
    bins_.reserve(max_bins);
  }

  void add(TrafficClass c, std::uint64_t bytes, Time now) noexcept {
    totals_[c] += bytes;
    while (now >= end_ && bins_.size() < max_bins_) {
      bins_.emplace_back();
      end_ += width_;
    }
    if (now >= end_) return;
    GoodputBin& bin = now >= end_ - width_
                          ? bins_.back()
                          : bins_[static_cast<std::size_t>((now - Time{}) / width_)];
    bin.delivered_bytes[c] += bytes;
  }

  [[nodiscard]] const std::vector<GoodputBin>& bins() const noexcept { return bins_; }
  [[nodiscard]] const PerClass<std::uint64_t>& totals() const noexcept { return totals_; }
  [[nodiscard]] Duration width() const noexcept { return width_; }

 private:
  Duration width_;
  std::uint32_t max_bins_;
  Time end_{};  ///< end of the last bin
  std::vector<GoodputBin> bins_;
  PerClass<std::uint64_t> totals_{};
};

}  // namespace outrider::tg
