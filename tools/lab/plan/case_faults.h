#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/core/config_issue.h"
#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {

/// Collects the faults of generated configurations and says each once, under a key of the
/// experiment. A generated configuration repeats what one line of the file says: at every port, in
/// every arm and at every point.
class CaseFaults {
 public:
  /// @param base  `[parameters]` of the file
  explicit CaseFaults(const CaseParameters& base) : base_(base) {}

  /// @param origin  place of the arm or the sweep in the file, such as "arm[1]"
  /// @param own  the parameters of the arm at its point
  void add(const std::string& origin, const std::string& label, const CaseParameters& own,
           const ConfigIssues& found);

  /// @param rows  arms at their points, with faults or without
  [[nodiscard]] ConfigIssues told(std::size_t rows) const;

 private:
  struct Place {
    std::string origin, label;
    bool own = false;  ///< the value is the arm's or the point's, not that of `[parameters]`
  };
  struct Fault {
    std::string key, problem;
    bool of_file = false;  ///< the key is one of the experiment already
    std::vector<Place> places{};
  };

  [[nodiscard]] bool is_shared(const Fault& fault, std::size_t rows) const;

  const CaseParameters& base_;
  std::vector<Fault> faults_{};
  ConfigIssues unkept_{};  ///< keeps none: counts those that no case has kept
};

}  // namespace outrider::lab
