#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tools/lab/advise/recommendation.h"
#include "tools/lab/advise/remedy.h"
#include "tools/lab/search/search_rounds.h"

namespace outrider::lab {

/// What a search of advise seeks: the arms that are worth verifying by the figures of the
/// screening, as many as the time allows.
class AdviceSearch final : public SearchGoal {
 public:
  /// @param arms  labels, "off" first
  explicit AdviceSearch(std::vector<std::string> arms) : arms_(std::move(arms)) {}

  void verify(const std::vector<std::string>& labels) { verified_ = numbers_of(labels); }
  /// Looks at the remedies of the last round.
  void take(std::span<const Remedy> remedies) { remedies_ = remedies; }
  [[nodiscard]] std::vector<std::string> labels_of(const SearchArms& numbers) const {
    std::vector<std::string> labels;
    for (const std::size_t number : numbers) labels.push_back(arms_[number]);
    return labels;
  }

  [[nodiscard]] SearchArms may_win() const override { return {}; }
  [[nodiscard]] SearchArms worth_verifying() const override { return verified_; }
  /// All or none: each round compares the same arms.
  [[nodiscard]] SearchArms not_narrow(double narrow_enough) const override {
    const auto is_wide = [narrow_enough](const Remedy& one) {
      const Estimate& time = one.time_seconds;
      return one.seeds < kSeedsToBeSure ||
             !(time.high - time.low <= 2 * narrow_enough * time.value);
    };
    return std::ranges::any_of(remedies_, is_wide) ? verified_ : SearchArms{};
  }

 private:
  [[nodiscard]] SearchArms numbers_of(const std::vector<std::string>& labels) const {
    SearchArms numbers;
    for (std::size_t i = 0; i < arms_.size(); ++i)
      if (std::ranges::find(labels, arms_[i]) != labels.end()) numbers.push_back(i);
    return numbers;
  }

  std::vector<std::string> arms_;
  SearchArms verified_{};
  std::span<const Remedy> remedies_{};
};

}  // namespace outrider::lab
