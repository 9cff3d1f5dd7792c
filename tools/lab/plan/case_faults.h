#pragma once

#include <string>
#include <vector>

#include "common/core/config_issue.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/plan/plan_rows.h"

namespace outrider::lab {

/// Collects the faults of generated configurations and says each once, under a key of the
/// experiment. A generated configuration repeats what one line of the file says: at every port, in
/// every arm and at every point.
class CaseFaults {
 public:
  /// @param base  `[parameters]` of the file
  explicit CaseFaults(const CaseParameters& base) : base_(base) {}

  /// @param row  must stay where it is until told(); each is handed in, with faults or without
  void add(const PlannedRow& row, const ConfigIssues& found);

  /// Says each fault once, and only where not all rows have it also the arm or the point.
  [[nodiscard]] ConfigIssues told() const;

 private:
  using Rows = std::vector<const PlannedRow*>;
  struct Fault {
    std::string key, problem;
    bool of_file = false;  ///< the key is one of the experiment already
    Rows rows{};           ///< that have it
  };

  [[nodiscard]] bool is_shared(const Fault& fault) const;
  [[nodiscard]] std::string where(const Rows& some) const;
  void tell_each(const Fault& fault, ConfigIssues& issues) const;

  const CaseParameters& base_;
  Rows rows_{};
  std::vector<Fault> faults_{};
  ConfigIssues unkept_{};  ///< keeps none: counts those that no case has kept
};

}  // namespace outrider::lab
