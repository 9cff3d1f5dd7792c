#pragma once

#include <functional>
#include <map>
#include <vector>

#include "tools/lab/run/run_store.h"
#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// The runs of a session that have ended. It keeps their digests, and reads their reports again
/// from their stores: those of thousands of runs are more than a machine's memory. A run that no
/// store has, because the disk is full or it was cut short, stays in memory.
class FinishedRuns {
 public:
  explicit FinishedRuns(Runtime runtime, Flagged flagged = Flagged::kKept)
      : runtime_(runtime), flagged_(flagged) {}

  /// @param store  that has this run, and must outlive this; nullptr: none
  void add(CaseRun run, const RunStore* store);

  /// Returns the digests in the order of the plan. They are valid until the next call of add().
  [[nodiscard]] std::vector<const RunDigest*> digests() const;

  /// Returns the reports of a run that was added. @throws std::runtime_error if its file is gone
  [[nodiscard]] CaseRun read(const Case& definition) const;

 private:
  Runtime runtime_;
  Flagged flagged_;
  std::map<const Case*, RunDigest, std::less<>> digests_{};
  std::map<const Case*, const RunStore*, std::less<>> stores_{};
  std::map<const Case*, CaseRun, std::less<>> in_memory_{};
};

}  // namespace outrider::lab
