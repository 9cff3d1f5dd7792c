#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace outrider::lab {

/// Returns the two-sided p-value of "the differences are symmetric around zero". It is the
/// share of all assignments of signs whose mean is at least as far from zero as the observed
/// mean. All assignments are tried up to 2^13; beyond, 9,999 drawn ones and the observed one
/// (Phipson and Smyth, "Permutation p-values should never be zero", 2010). Deterministic.
/// With n differences it is at least 2^(1-n).
/// @return 1 without differences
double sign_flip_p(std::span<const double> differences);

/// Returns the same for "both samples come from one distribution", by permuting the values
/// between the samples. The permutations are always drawn.
double exchange_p(std::span<const double> a, std::span<const double> b);

/// Returns adjusted p-values in the order given. If all adjusted values below alpha are called
/// significant, the chance of one or more false findings is at most alpha. Source: Holm, "A
/// simple sequentially rejective multiple test procedure", 1979.
std::vector<double> holm(std::span<const double> p);

}  // namespace outrider::lab
