#include "trafficgen/streams/benchmark/ecn_law.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace outrider::tg {
namespace {

constexpr double kLeastExpected = 5;  ///< Cochran, "Some methods for strengthening the chi2 tests"

/// Neighbouring positions, joined.
struct MarkGroup {
  double marked = 0;
  double expected = 0;
  double variance = 0;
  double packets = 0;

  void add(double marks, double probability, double repetitions) noexcept {
    marked += marks;
    expected += repetitions * probability;
    variance += repetitions * probability * (1 - probability);
    packets += repetitions;
  }
  [[nodiscard]] bool is_large_enough() const noexcept {
    return expected >= kLeastExpected && packets - expected >= kLeastExpected;
  }
};

}  // namespace

double mark_probability(const EcnLawConfig& law, double queue_packets) noexcept {
  if (queue_packets >= law.kmax_packets) return 1;
  if (queue_packets < law.kmin_packets) return 0;
  return law.pmax * (queue_packets - law.kmin_packets) / (law.kmax_packets - law.kmin_packets);
}

std::vector<double> expected_marks(const EcnLawConfig& law) {
  std::vector<double> expected(law.packets);
  for (std::uint32_t i = 0; i < law.packets; ++i)
    expected[i] =
        mark_probability(law, law.mark_at == EcnMarkPoint::kEnqueue ? i : law.packets - 1 - i);
  return expected;
}

EcnFit fit_marks(std::span<const std::uint32_t> marked, std::span<const double> expected,
                 std::uint32_t repetitions) {
  assert(marked.size() == expected.size());
  EcnFit fit;
  MarkGroup group;
  for (std::size_t i = 0; i < marked.size(); ++i) {
    if (expected[i] <= 0) fit.marked_below += marked[i];
    else if (expected[i] >= 1) fit.unmarked_above += repetitions - marked[i];
    else group.add(marked[i], expected[i], repetitions);
    if (!group.is_large_enough()) continue;
    const double off = group.marked - group.expected;
    fit.chi_square += off * off / group.variance;
    ++fit.groups;
    fit.largest_difference = std::max(fit.largest_difference, std::abs(off) / group.packets);
    group = {};
  }
  if (fit.groups > 0) fit.p_value = chi_square_tail(fit.chi_square, fit.groups);
  return fit;
}

double chi_square_tail(double chi_square, std::uint32_t degrees) noexcept {
  assert(degrees > 0);
  const double k = degrees, ninth = 2 / (9 * k);
  const double z = (std::cbrt(chi_square / k) - (1 - ninth)) / std::sqrt(ninth);
  return std::erfc(z / std::sqrt(2)) / 2;
}

}  // namespace outrider::tg
