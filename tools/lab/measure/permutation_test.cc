#include "tools/lab/measure/permutation_test.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "common/core/random.h"

namespace outrider::lab {
namespace {

constexpr std::size_t kEnumerated = 13;  // 2^13 assignments are fewer than the draws
constexpr std::uint64_t kDraws = 9'999;
constexpr std::uint64_t kSeed = 1;
/// A purpose that no run uses.
constexpr auto kPermutationPurpose = static_cast<RandomPurpose>(0x1002);

double sum(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Says whether an assignment's mean is as far from zero as the observed one. The tolerance covers
/// rounding.
bool as_far(double way, double seen) { return std::abs(way) >= std::abs(seen) * (1 - 1e-9); }

}  // namespace

double sign_flip_p(std::span<const double> differences) {
  const std::size_t n = differences.size();
  const double seen = sum(differences);
  if (n == 0 || seen == 0) return 1;
  std::uint64_t far = 0;
  if (n <= kEnumerated) {
    for (std::uint64_t signs = 0; signs < std::uint64_t{1} << n; ++signs) {
      double way = 0;
      for (std::size_t i = 0; i < n; ++i)
        way += (signs >> i & 1) != 0 ? -differences[i] : differences[i];
      far += as_far(way, seen);
    }
    return static_cast<double>(far) / std::ldexp(1.0, static_cast<int>(n));
  }
  RandomStream random(kSeed, 0, kPermutationPurpose);
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    double way = 0;
    for (const double d : differences) way += random.next_u32() % 2 == 0 ? d : -d;
    far += as_far(way, seen);
  }
  return static_cast<double>(far + 1) / static_cast<double>(kDraws + 1);
}

double exchange_p(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return 1;
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  const double of_a = static_cast<double>(a.size()), of_b = static_cast<double>(b.size());
  const double total = sum(all);
  const auto gap = [&](double first) { return (total - first) / of_b - first / of_a; };
  const double seen = gap(sum(a));
  if (seen == 0) return 1;
  RandomStream random(kSeed, 1, kPermutationPurpose);
  std::uint64_t far = 0;
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    double first = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {  // Fisher-Yates shuffle of the first sample only
      const auto left = static_cast<double>(all.size() - i);
      std::swap(all[i], all[i + static_cast<std::size_t>(random.uniform() * left)]);
      first += all[i];
    }
    far += as_far(gap(first), seen);
  }
  return static_cast<double>(far + 1) / static_cast<double>(kDraws + 1);
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [p](std::size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double highest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double tests_left = static_cast<double>(p.size() - rank);
    highest = std::max(highest, std::min(1.0, tests_left * p[order[rank]]));
    adjusted[order[rank]] = highest;
  }
  return adjusted;
}

}  // namespace outrider::lab
