#pragma once

#include <string>
#include <vector>

#include "tools/lab/search/best_arms.h"
#include "tools/lab/search/best_text.h"
#include "tools/lab/search/run_goal.h"

namespace outrider::lab {

/// Seeks of each family the quickest arm, and the quickest that costs background little. An arm
/// whose interval is narrow enough gets no further seeds; the others do.
class BestGoal final : public RunGoal {
 public:
  /// @throws std::out_of_range if the objective is no metric
  explicit BestGoal(const SearchFile& file);

  [[nodiscard]] SearchArms may_win() const override { return lab::may_win(screened_.arms); }
  [[nodiscard]] SearchArms worth_verifying() const override {
    return lab::worth_verifying(screened_.arms, screened_.rule);
  }
  [[nodiscard]] SearchArms not_narrow(double narrow_enough) const override;

  [[nodiscard]] std::vector<std::string> arms() const override;
  void take(const SearchRound& round, const SearchRuns& runs) override;
  [[nodiscard]] std::string text() const override;
  [[nodiscard]] std::string json() const override;
  [[nodiscard]] std::string csv() const override;

 private:
  struct Round {
    SearchPhase phase;
    std::uint32_t seeds;  ///< in all, of the phase
    std::size_t arms;
  };

  [[nodiscard]] BestArms arms_of(std::span<const RunDigest* const> runs) const;

  SearchSettings settings_;
  Experiment experiment_;  ///< name and question
  BestArms known_{};       ///< all arms by number, with label and family alone
  BestPoint screened_{};   ///< [arms]
  BestPoint verified_{};   ///< those that were worth it, the baseline first
  std::vector<Round> rounds_{};
};

}  // namespace outrider::lab
