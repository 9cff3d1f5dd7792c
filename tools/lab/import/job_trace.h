#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trafficgen/import/step_list.h"

namespace outrider::lab {

/// What a trace of a job becomes: the steps of an iteration, and what is said of the rest.
struct JobTrace {
  tg::StepList list;
  std::vector<std::string> understood{};  ///< a line each
  std::vector<std::string> left_out{};
};

using RankGroup = std::vector<std::uint32_t>;

/// GPUs of a server, which reach each other without the network. The value is SimAI's default.
inline constexpr std::uint32_t kGpusPerServer = 8;

/// Returns whether all ranks are in one server. Ranks fill servers in their order.
[[nodiscard]] bool within_a_server(const RankGroup& group) noexcept;

/// Cuts ranks into groups of `size` whose members are `stride` apart, as frameworks number them.
/// @pre size x stride divides `ranks`
[[nodiscard]] std::vector<RankGroup> rank_groups(std::uint32_t ranks, std::uint32_t size,
                                                 std::uint32_t stride);

/// Counts what a trace has and the steps have not, by reason.
class LeftOut {
 public:
  void add(const std::string& reason, std::uint64_t bytes = 0);
  /// Returns a line for each reason, in the order of their first cases.
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  struct Count {
    std::string reason;
    std::uint64_t cases = 0;
    double bytes = 0;
  };
  std::vector<Count> counts_;
};

/// Makes a list of steps of what all ranks do alike, in order.
class StepSequence {
 public:
  explicit StepSequence(std::uint32_t ranks);

  /// All ranks compute, together with what they compute next.
  void compute(Duration takes) noexcept { pending_ += takes; }
  /// Each group does the collective, when all before it is done, and all wait for it.
  void collective(tg::StepKind kind, const std::vector<RankGroup>& groups, std::uint64_t bytes,
                  const std::string& name);
  /// A layer of a backward pass computes the gradients of its inputs, which the first collective
  /// passes on, and meanwhile those of its weights, for which the second collective begins. The
  /// next layer waits for the first alone.
  struct Part {
    Duration takes{};
    tg::StepKind kind = tg::StepKind::kCompute;  ///< kCompute: no collective
    std::vector<RankGroup> groups{};
    std::uint64_t bytes = 0;
  };
  void backward(const Part& inputs, const Part& weights, const std::string& name);

  /// Returns whether the list has become too long; nothing is added then.
  [[nodiscard]] bool full() const noexcept { return messages_ > tg::kMostStepMessages; }
  /// Ends the list.
  tg::StepList take();

 private:
  using Indices = std::vector<std::uint32_t>;
  void flush();
  Indices add(tg::JobStep step, const Indices& after);
  Indices add_groups(const Part& part, const std::string& name, const Indices& after);

  RankGroup all_;
  tg::StepList list_;
  Duration pending_{};
  Indices tail_;     ///< steps that the next one waits for
  Indices weights_;  ///< the last collective of weights
  std::uint64_t messages_ = 0;
};

/// Returns "412 all_reduce (1.2e+09 bytes), 3 send (...)" of the steps that send, and "computing,
/// at most 1.3 s a rank".
std::vector<std::string> described(const tg::StepList& list);

}  // namespace outrider::lab
