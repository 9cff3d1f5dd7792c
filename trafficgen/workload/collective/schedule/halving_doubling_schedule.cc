#include <bit>
#include <utility>

#include "trafficgen/workload/collective/schedule/collective_schedule.h"

namespace outrider::tg {
namespace {

/// Builds the schedule step by step. A message depends on all that its sender has received in the
/// steps before.
class HalvingDoubling {
 public:
  HalvingDoubling(std::uint32_t ranks, std::uint64_t bytes, std::uint32_t unit_bytes)
      : core_(std::bit_floor(ranks)),
        folded_(ranks - core_),
        chunks_(core_, bytes, unit_bytes),
        ranges_(core_, {0, core_}),
        received_(ranks),
        schedule_{.ranks = ranks} {}

  CollectiveSchedule build() && {
    for (std::uint32_t i = 0; i < folded_; ++i) send(2 * i, 2 * i + 1, {0, core_}, false);
    end_step();
    for (std::uint32_t distance = core_ / 2; distance > 0; distance /= 2) halve(distance);
    for (std::uint32_t distance = 1; distance < core_; distance *= 2) widen(distance);
    for (std::uint32_t i = 0; i < folded_; ++i) send(2 * i + 1, 2 * i, {0, core_}, true);
    return std::move(schedule_);
  }

 private:
  using Range = std::pair<std::uint32_t, std::uint32_t>;  ///< of chunks, end excluded

  /// Returns the rank of a member of the core, which is a power of two.
  [[nodiscard]] std::uint32_t rank_of(std::uint32_t member) const noexcept {
    return member < folded_ ? 2 * member + 1 : member + folded_;
  }
  void send(std::uint32_t from, std::uint32_t to, const Range& range, bool sums) {
    const std::uint64_t begin = chunks_.begin_of(range.first);
    arrivals_.emplace_back(to, static_cast<std::uint32_t>(schedule_.messages.size()));
    schedule_.messages.push_back({.from = from,
                                  .to = to,
                                  .begin_bytes = begin,
                                  .bytes = chunks_.begin_of(range.second) - begin,
                                  .sums = sums,
                                  .needs = received_[from]});
  }
  void end_step() {
    for (const auto& [to, message] : arrivals_) received_[to].push_back(message);
    arrivals_.clear();
  }
  /// Each member sends its partner the half of its range that the partner keeps.
  void halve(std::uint32_t distance) {
    for (std::uint32_t member = 0; member < core_; ++member) {
      auto& [begin, end] = ranges_[member];
      const std::uint32_t middle = (begin + end) / 2;
      const bool keeps_upper = (member & distance) != 0;
      send(rank_of(member), rank_of(member ^ distance),
           keeps_upper ? Range{begin, middle} : Range{middle, end}, false);
      (keeps_upper ? begin : end) = middle;
    }
    end_step();
  }
  /// Each member sends its partner its range, and has both afterwards.
  void widen(std::uint32_t distance) {
    for (std::uint32_t member = 0; member < core_; ++member)
      send(rank_of(member), rank_of(member ^ distance), ranges_[member], true);
    for (auto& [begin, end] : ranges_) {
      begin &= ~distance;
      end = begin + 2 * distance;
    }
    end_step();
  }

  std::uint32_t core_;    ///< ranks that halve and double
  std::uint32_t folded_;  ///< ranks that take part through their neighbour
  EvenCut chunks_;
  std::vector<Range> ranges_;                                      ///< [core]
  std::vector<std::vector<std::uint32_t>> received_;               ///< [ranks]: before this step
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arrivals_;  ///< of this step: to, message
  CollectiveSchedule schedule_;
};

}  // namespace

/// Reduces and scatters by recursive halving, between ranks at distances N/2, N/4, ..., 1, and
/// gathers by recursive doubling, at distances 1, 2, ..., N/2. If N is no power of two but 2^k + r,
/// the first 2r ranks are paired: the even one hands all its data to the odd one, which takes part
/// for both and hands back all sums at the end.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in
/// MPICH", IJHPCA 19 (2005), Rabenseifner's algorithm. Deviation: the halving begins at the largest
/// distance, as in that paper's reduce-scatter, so that rank w reduces chunk w; MPICH's all-reduce
/// begins at distance 1. The bytes of each step are the same.
CollectiveSchedule halving_doubling_schedule(std::uint32_t ranks, std::uint64_t bytes,
                                             std::uint32_t unit_bytes) {
  return HalvingDoubling(ranks, bytes, unit_bytes).build();
}

}  // namespace outrider::tg
