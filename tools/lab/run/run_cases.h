#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/lab/experiment/case.h"
#include "tools/lab/simulation/run_result.h"

namespace outrider::lab {

struct RunFailure {
  std::string name;  ///< name of the case
  std::string cause;
};

/// How a session ended. RunOrder::on_run has been given its runs.
struct RunOutcome {
  std::vector<RunFailure> failures{};
  /// The complete runs that could not be kept on disk, and why.
  std::vector<std::string> not_kept{};
  bool interrupted = false;
  std::size_t not_tried = 0;  ///< cases left out because something outside them is to blame
  std::size_t loaded = 0;     ///< cases that an earlier session had finished
};

/// Is called as cases end.
using Progress = std::function<void(std::size_t done, std::size_t total)>;

/// The cases that are also run without background. Those of "off" are enough to say how much longer
/// an arm takes than an empty network; without any one still sees how arms compare.
enum class ReferenceRuns : std::uint8_t { kOfAll, kOfOff, kNone };

/// Says which cases to run.
struct RunOrder {
  const std::vector<Case>& cases;         ///< must outlive the outcome
  const std::vector<std::string>& names;  ///< [cases]
  std::vector<std::size_t> wanted;        ///< indices into cases, rising
  Progress progress;
  /// Is called with each run as it ends, in any order.
  /// @param text  serialize() of it; empty if the run was cut short, in real time alone
  std::function<void(std::size_t index, CaseRun run, const std::string& text)> on_run;
  ReferenceRuns references = ReferenceRuns::kOfAll;
};

/// Returns whether a case is also to be run without background.
[[nodiscard]] bool needs_reference(ReferenceRuns references, const Case& c);

/// Orders the cases by seed, so that an interrupted experiment has all arms of its seeds.
/// @param wanted  indices into `cases`
std::vector<std::size_t> seed_major(const std::vector<Case>& cases,
                                    const std::vector<std::size_t>& wanted);

/// Runs the wanted cases and their references without background in virtual time, on `jobs`
/// processes. The outcome does not depend on the number of processes, nor on that of tiles.
/// @param tiles  see run_virtual(). @throws EnvironmentError
RunOutcome run_cases_virtual(const RunOrder& order, std::size_t jobs, std::uint32_t tiles = 0);

/// Returns the memory [bytes] of a process that runs the case in virtual time, beside what it has
/// of the plan: nearly all of it are buffers for packets.
[[nodiscard]] std::uint64_t process_memory_bytes(const Case& c);

/// The progress of a case when it was given up.
struct VirtualTrial {
  double virtual_seconds = 0;
  double processor_seconds = 0;
};

/// Runs one case in virtual time for at most `processor_seconds`, in a process of its own. Other
/// work on the machine does not count.
/// @return nothing if the case failed. @throws EnvironmentError
std::optional<VirtualTrial> try_virtual(const Case& c, double processor_seconds);

/// Converts a run to and from the text in which a worker process sends it to its parent.
std::string serialize(const CaseRun& run);
/// @throws std::runtime_error
CaseRun deserialize(const Case& definition, const std::string& text);

}  // namespace outrider::lab
