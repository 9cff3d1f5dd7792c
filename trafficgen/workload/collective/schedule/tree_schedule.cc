#include <bit>

#include "trafficgen/workload/collective/schedule/collective_schedule.h"

namespace outrider::tg {

/// Rank w's parent is w without its lowest bit. A rank sends its parent the sum of its subtree when
/// all its children have sent theirs. The sums come back the same way: the child of the largest
/// subtree gets them first, and the next child when the one before has all of them.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in
/// MPICH", IJHPCA 19 (2005), binomial trees of reduce and broadcast. Deviation: MPICH's next send
/// begins when the one before has left its buffer; here it begins when that one has arrived.
CollectiveSchedule tree_schedule(std::uint32_t ranks, std::uint64_t bytes) {
  CollectiveSchedule s{.ranks = ranks};
  std::vector<std::vector<std::uint32_t>> received(ranks);
  const auto send = [&](std::uint32_t from, std::uint32_t to, bool sums) {
    const auto index = static_cast<std::uint32_t>(s.messages.size());
    s.messages.push_back(
        {.from = from, .to = to, .bytes = bytes, .sums = sums, .needs = received[from]});
    received[to].push_back(index);
    return index;
  };
  for (std::uint32_t distance = 1; distance < ranks; distance *= 2)
    for (std::uint32_t rank = distance; rank < ranks; rank += 2 * distance)
      send(rank, rank - distance, false);
  std::vector<std::vector<std::uint32_t>> last(ranks);  // at most one each
  for (std::uint32_t distance = std::bit_ceil(ranks) / 2; distance > 0; distance /= 2) {
    for (std::uint32_t rank = 0; rank + distance < ranks; rank += 2 * distance) {
      const std::uint32_t index = send(rank, rank + distance, true);
      std::vector<std::uint32_t>& needs = s.messages[index].needs;
      needs.insert(needs.end(), last[rank].begin(), last[rank].end());
      last[rank] = {index};
    }
  }
  return s;
}

}  // namespace outrider::tg
