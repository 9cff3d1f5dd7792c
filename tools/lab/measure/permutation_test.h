#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace outrider::lab {

/// Two-sided p-value of "the differences are symmetric around zero": the share of all ways
/// of giving each a sign whose mean is as far from zero as the one seen. All of them up to
/// 2^13, else 9,999 drawn ones with the one seen (Phipson and Smyth, "Permutation p-values
/// should never be zero", 2010). Deterministic. With n differences it is at least 2^(1-n).
/// @return 1 without differences
double sign_flip_p(std::span<const double> differences);

/// The same for "both samples are of one distribution", by exchanging whose values are
/// whose; always drawn.
double exchange_p(std::span<const double> a, std::span<const double> b);

/// Adjusts p-values so that with any of them below alpha the chance of a single false one
/// is at most alpha. Source: Holm, "A simple sequentially rejective multiple test
/// procedure", 1979. In the order given.
std::vector<double> holm(std::span<const double> p);

}  // namespace outrider::lab
