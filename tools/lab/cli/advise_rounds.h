#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/lab/advise/advised_file.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_plan.h"
#include "tools/lab/run/cpus.h"
#include "tools/lab/run/run_store.h"
#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// The wall time since the command began, for which a user waits.
class Waited {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// Returns what to give for --minutes for a time to fit.
inline std::string minutes_text(double seconds) {
  return std::to_string(std::lround(std::ceil(seconds / 60)));
}

/// A round's cases, and what came of them.
struct AdviceRound {
  std::string name;  ///< AdviceQuestion::name
  std::vector<Case> cases;
  Summary summary{};
  int status = kExitOk;  ///< kExitOk only if all cases have ended
  bool timed = false;    ///< all cases were run now, none in an earlier session
};

/// What one round runs.
struct AdviceQuestion {
  std::string name;  ///< of its folder below the results
  AdvisedFile advised;
  Point parameters{};  ///< over those of the file
  bool brief = false;
  Runtime runtime = Runtime::kVirtual;
  ReferenceRuns references = ReferenceRuns::kOfOff;
};

/// Runs the rounds of one piece of advice. Each has a folder below the results.
class AdviceRounds {
 public:
  /// @param options  must outlive this
  AdviceRounds(const LabOptions& options, std::filesystem::path directory);

  /// Writes a round's experiment and plans it. @return nothing, after printing a message, on a
  /// fault
  [[nodiscard]] std::optional<Planned> plan(const AdviceQuestion& question,
                                            const PlanOptions& options) const;

  /// Runs one round and writes its results. @return nothing, after printing a message, on a fault
  std::optional<AdviceRound> ask(const AdviceQuestion& question, const PlanOptions& options);

  /// Returns how many processes run cases.
  [[nodiscard]] std::size_t jobs() const { return jobs_; }
  /// Returns by how many processors' time the wall time of rounds is shorter.
  [[nodiscard]] double processors() const {
    return static_cast<double>(std::min(jobs_, usable_cpus().size()));
  }
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
  /// Returns the folder of the lists of remedies.
  [[nodiscard]] const std::filesystem::path& conf() const { return conf_; }
  /// Says what of the last round has ended.
  [[nodiscard]] const std::string& ended() const { return ended_; }
  /// Forgets the finished cases, once the advice is given.
  void clear();

 private:
  const LabOptions& options_;
  std::filesystem::path directory_;
  std::filesystem::path conf_;
  std::size_t jobs_;
  std::deque<RunStore> stores_{};  ///< of the rounds so far
  std::string ended_{};
};

}  // namespace outrider::lab
