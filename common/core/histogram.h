#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <limits>
#include <vector>

namespace outrider {

/// Log-linear histogram of non-negative integers. It has 128 linear sub-buckets per power of
/// two, so a quantile is off by less than 1 % of its value. Count, sum, minimum and maximum
/// are exact. Mergeable. Not thread-safe.
///
/// All buckets are allocated at construction; record() is O(1).
class Histogram {
 public:
  static constexpr unsigned kSubBits = 7;
  static constexpr std::uint64_t kSubBuckets = 1ULL << kSubBits;

  static constexpr std::size_t kBuckets = (64 - kSubBits + 1) * kSubBuckets;

  Histogram() : buckets_(kBuckets) {}

  void record(std::uint64_t value) noexcept { record(value, 1); }

  /// Records the same value `times` times. @pre times > 0
  void record(std::uint64_t value, std::uint64_t times) noexcept {
    assert(times > 0);
    buckets_[index_of(value)] += times;
    count_ += times;
    sum_ += static_cast<double>(value) * static_cast<double>(times);
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }

  void merge(const Histogram& other) noexcept {
    for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
  }

  void clear() noexcept {
    std::fill(buckets_.begin(), buckets_.end(), 0);
    count_ = 0;
    sum_ = 0;
    min_ = std::numeric_limits<std::uint64_t>::max();
    max_ = 0;
  }

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] double mean() const noexcept {
    return count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
  }
  /// @pre count() > 0
  [[nodiscard]] std::uint64_t min() const noexcept { return min_; }
  [[nodiscard]] std::uint64_t max() const noexcept { return max_; }

  [[nodiscard]] double sum() const noexcept { return sum_; }

  /// Calls `visit(index, count)` for every bucket that holds values, in order of index.
  template <class Visit>
  void for_each_bucket(Visit&& visit) const {
    for (std::size_t i = 0; i < buckets_.size(); ++i)
      if (buckets_[i] != 0) visit(i, buckets_[i]);
  }

  /// Restores one bucket that for_each_bucket() reported. Restore all buckets, then the
  /// extremes, which buckets do not hold. @return false if there is no such bucket
  bool restore_bucket(std::size_t index, std::uint64_t count) noexcept {
    if (index >= buckets_.size()) return false;
    count_ += count - buckets_[index];
    buckets_[index] = count;
    return true;
  }
  void restore_extremes(double sum, std::uint64_t min, std::uint64_t max) noexcept {
    sum_ = sum;
    min_ = min;
    max_ = max;
  }

  bool operator==(const Histogram&) const = default;

  /// Returns the value in the middle of a bucket. @pre index < kBuckets
  static constexpr std::uint64_t middle_of(std::size_t index) noexcept {
    if (index < kSubBuckets) return index;
    const auto exponent = static_cast<unsigned>(index / kSubBuckets) - 1;
    const std::uint64_t low = (kSubBuckets + index % kSubBuckets) << exponent;
    return low + ((1ULL << exponent) >> 1);
  }

  /// Returns the value of the smallest bucket at or below which a share `q` of the values
  /// lies: the bucket's middle, clamped to [min, max]. @pre count() > 0, 0 <= q <= 1
  [[nodiscard]] std::uint64_t quantile(double q) const noexcept {
    assert(count_ > 0 && q >= 0 && q <= 1);
    const double exact = q * static_cast<double>(count_);
    auto rank = static_cast<std::uint64_t>(exact);
    if (static_cast<double>(rank) < exact) ++rank;
    rank = std::clamp<std::uint64_t>(rank, 1, count_);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      seen += buckets_[i];
      if (seen >= rank) return std::clamp(middle_of(i), min_, max_);
    }
    return max_;
  }

 private:
  /// Returns the bucket of a value. Values below kSubBuckets have a bucket each; above, the
  /// top kSubBits + 1 bits determine the bucket.
  static constexpr std::size_t index_of(std::uint64_t value) noexcept {
    if (value < kSubBuckets) return static_cast<std::size_t>(value);
    const auto exponent = static_cast<unsigned>(std::bit_width(value)) - kSubBits - 1;
    return static_cast<std::size_t>((exponent + 1) * kSubBuckets +
                                    ((value >> exponent) - kSubBuckets));
  }
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  double sum_ = 0;
  std::uint64_t min_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t max_ = 0;
};

}  // namespace outrider
