#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

#include "common/core/clock.h"
#include "trafficgen/import/step_list.h"

namespace outrider::tg {

inline constexpr std::uint32_t kNoStep = ~0U;

/// One message of a collective. Ranks are positions in the list of workers. A message from a rank
/// to itself has no bytes and sends nothing: it arrives when the rank has worked for `takes`. A
/// rank does one such work at a time, in the order in which they may begin.
struct CollectiveMessage {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint64_t begin_bytes = 0;  ///< where it begins in the sender's data
  std::uint64_t bytes = 0;        ///< > 0; to itself: 0
  bool sums = false;              ///< complete sums, which the receiver keeps; else it adds them
  /// Indices of the messages that must have arrived before this one may leave. They were sent to
  /// `from` or by it.
  std::vector<std::uint32_t> needs{};
  Duration takes{};              ///< to itself
  std::uint32_t step = kNoStep;  ///< to itself: with its arrival the rank has ended that step
};

/// Says who sends what to whom in each iteration of a collective without servers, and what it
/// depends on. It holds for every iteration. A rank's first messages depend on nothing but its own
/// data. Two messages from one rank to another travel on one connection.
///
/// Schedules are pure functions of their arguments and are made at start-up; the job's
/// ScheduledCollective executes them. Arguments: `ranks` >= 2, `bytes` of one rank's data, a
/// multiple of `unit_bytes`, which no message cuts in two. There must be a unit for each rank.
struct CollectiveSchedule {
  std::uint32_t ranks = 0;
  std::vector<CollectiveMessage> messages{};  ///< those of a sender in the order of sending
};

/// Cuts bytes into parts that are equal but for one unit; the first ones take the remainder.
class EvenCut {
 public:
  constexpr EvenCut(std::uint32_t parts, std::uint64_t bytes, std::uint32_t unit_bytes) noexcept
      : parts_(parts), unit_bytes_(unit_bytes), units_(bytes / unit_bytes) {
    assert(parts > 0 && bytes % unit_bytes == 0);
  }
  /// Returns where a part begins. @param part up to the number of parts, which gives the end
  [[nodiscard]] constexpr std::uint64_t begin_of(std::uint32_t part) const noexcept {
    const std::uint64_t longer = units_ % parts_;
    return (units_ / parts_ * part + (part < longer ? part : longer)) * unit_bytes_;
  }
  [[nodiscard]] constexpr std::uint64_t bytes_of(std::uint32_t part) const noexcept {
    return begin_of(part + 1) - begin_of(part);
  }

 private:
  std::uint32_t parts_;
  std::uint32_t unit_bytes_;
  std::uint64_t units_;
};

/// All-reduce in a ring: 2(N - 1)/N of the bytes from each rank to the next.
CollectiveSchedule ring_schedule(std::uint32_t ranks, std::uint64_t bytes,
                                 std::uint32_t unit_bytes);

/// All-reduce by recursive halving and doubling: as many bytes as the ring in 2 log2(N) steps.
CollectiveSchedule halving_doubling_schedule(std::uint32_t ranks, std::uint64_t bytes,
                                             std::uint32_t unit_bytes);

/// All-reduce on a binomial tree: a reduction to rank 0, then a broadcast.
CollectiveSchedule tree_schedule(std::uint32_t ranks, std::uint64_t bytes);

/// Every rank sends each other rank its own share of the bytes.
/// @param skew exponent of Zipf's law by which the shares fall from rank 0 on; 0: equal shares
CollectiveSchedule all_to_all_schedule(std::uint32_t ranks, std::uint64_t bytes,
                                       std::uint32_t unit_bytes, double skew);

/// Activations from stage to stage and gradients back, in the order 1F1B.
/// @param bytes of the activations that all micro-batches carry from one stage to the next
/// @param micro_batches > 0, at most one for each byte
CollectiveSchedule pipeline_schedule(std::uint32_t ranks, std::uint64_t bytes,
                                     std::uint32_t micro_batches);

/// The steps of a list, each of them by the schedules above.
/// @param list without faults, see parse_step_list()
CollectiveSchedule steps_schedule(const StepList& list);

}  // namespace outrider::tg
