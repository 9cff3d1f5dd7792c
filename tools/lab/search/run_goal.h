#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/lab/experiment/search_file.h"
#include "tools/lab/search/search_rounds.h"
#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// The runs of a search so far, in the order of the plan: those of the screening come first.
struct SearchRuns {
  std::span<const RunDigest* const> screening;
  std::span<const RunDigest* const> verifying;
};

/// A goal of an experiment's [search]: it judges arms by their runs, and says what it found.
class RunGoal : public SearchGoal {
 public:
  /// Returns the labels of all arms by their number; the baseline is the first.
  [[nodiscard]] virtual std::vector<std::string> arms() const = 0;
  /// Looks at all runs so far. @param round  that has ended
  virtual void take(const SearchRound& round, const SearchRuns& runs) = 0;
  /// Is called after the last round, before the results are asked for.
  virtual void end() {}

  /// Returns search.txt, for a terminal.
  [[nodiscard]] virtual std::string text() const = 0;
  /// Returns search.json. Deterministic, like to_json(Summary).
  [[nodiscard]] virtual std::string json() const = 0;
  /// Returns search.csv, a line for each arm.
  [[nodiscard]] virtual std::string csv() const = 0;
};

/// Makes the goal that [search] of a file picks. @throws std::out_of_range if `objective` is no
/// metric
std::unique_ptr<RunGoal> make_goal(const SearchFile& file);

/// A version of search.json, raised when a field is renamed, moved, removed or changes meaning.
inline constexpr int kSearchSchema = 3;

}  // namespace outrider::lab
