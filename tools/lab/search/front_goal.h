#pragma once

#include <string>
#include <vector>

#include "tools/lab/search/front_result.h"
#include "tools/lab/search/run_goal.h"

namespace outrider::lab {

/// Seeks the front of each family: the settings that no other betters in time and cost. All that
/// are picked get equally many seeds, because areas resample the seeds of all together.
class FrontGoal final : public RunGoal {
 public:
  explicit FrontGoal(const SearchFile& file);

  [[nodiscard]] SearchArms may_win() const override { return survivors_of(result_); }
  [[nodiscard]] SearchArms worth_verifying() const override;
  [[nodiscard]] SearchArms not_narrow(double narrow_enough) const override;

  [[nodiscard]] std::vector<std::string> arms() const override;
  void take(const SearchRound& round, const SearchRuns& runs) override;
  void end() override { report(result_); }
  [[nodiscard]] std::string text() const override { return front_table(result_); }
  [[nodiscard]] std::string json() const override { return to_json(result_); }
  [[nodiscard]] std::string csv() const override;

 private:
  FrontResult result_{};
};

}  // namespace outrider::lab
