#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/config_result.h"
#include "common/core/clock.h"

namespace outrider::tg {

/// What a step of a job does.
enum class StepKind : std::uint8_t {
  kCompute,        ///< each of its ranks computes
  kAllReduce,      ///< in a ring; on a binomial tree if there are fewer bytes than ranks
  kReduceScatter,  ///< the first half of the ring
  kAllGather,      ///< the second half of the ring
  kAllToAll,       ///< everybody sends everybody an equal share
  kBroadcast,      ///< from the first rank, on a binomial tree
  kSend,           ///< from the first of two ranks to the second
};

/// [StepKind] names in a file.
inline constexpr std::array<std::string_view, 7> kStepKinds{
    "compute", "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "send"};

/// One step of an iteration.
struct JobStep {
  std::string name{};  ///< for results; may be empty
  StepKind kind = StepKind::kCompute;
  std::vector<std::uint32_t> ranks{};  ///< that take part, each once, in the order of a ring
  Duration takes{};                    ///< kCompute
  /// All others: what a rank has before a reduction or after a gathering, what it sends to all,
  /// itself included, or what is sent.
  std::uint64_t bytes = 0;
  /// Steps that a rank must have ended before, if it takes part in them; by index, all smaller than
  /// the step's own. Absent: the rank's step before, by the order of the list.
  std::optional<std::vector<std::uint32_t>> after{};
};

/// What the ranks of a job do in an iteration.
struct StepList {
  std::uint32_t ranks = 0;
  std::vector<JobStep> steps{};
};

inline constexpr std::uint32_t kMostStepRanks = 256;
/// Bounds what a list becomes: messages, and two more for each rank of each step. A million takes
/// about 300 MB.
inline constexpr std::uint64_t kMostStepMessages = 1ULL << 20;
/// What a name may have in a list [characters].
inline constexpr std::size_t kMostStepName = 64;

/// Returns by how much a step of so many ranks counts towards kMostStepMessages.
[[nodiscard]] std::uint64_t messages_of(StepKind kind, std::uint64_t ranks) noexcept;
/// Returns the bytes that all ranks together send in an iteration.
[[nodiscard]] std::uint64_t bytes_sent(const StepList& list) noexcept;
/// Returns the longest time that a rank computes in an iteration.
[[nodiscard]] Duration longest_compute(const StepList& list);

/// Reads a list of steps: comma-separated values, a line that names the columns, then a line for
/// each step.
///
///     kind,ranks,bytes,seconds,after,name
///     compute,0-3,,0.002,,forward
///     all_reduce,0-3,4000000,,,gradients
///     send,0;3,1000,,start,
///     compute,3,,0.001,1;3,
///
/// `ranks` are numbers and ranges with semicolons between them. `after` has numbers of earlier
/// lines, counted from 1 at the first step; "start" waits for nothing, and an empty field for the
/// step before. Every rank from 0 on must send something.
ConfigResult<StepList> parse_step_list(std::string_view text);
ConfigResult<StepList> load_step_list(const std::string& path);
/// Returns the faults of steps that were made and not read, by step; empty if the list is valid.
ConfigIssues validate(const StepList& list);
/// Returns the text that parse_step_list() reads. Names lose commas, '#' and line ends.
std::string step_list_text(const StepList& list);

}  // namespace outrider::tg
