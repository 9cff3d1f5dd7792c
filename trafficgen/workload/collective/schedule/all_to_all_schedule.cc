#include <cmath>

#include "trafficgen/workload/collective/schedule/collective_schedule.h"

namespace outrider::tg {
namespace {

/// Returns where the share of each rank begins, in units, and the end of the last. Each rank has
/// one unit; the others follow Zipf's law.
std::vector<std::uint64_t> zipf_cut(std::uint32_t ranks, std::uint64_t units, double skew) {
  double whole = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) whole += std::pow(rank + 1, -skew);
  const std::uint64_t shared = units - ranks;
  std::vector<std::uint64_t> begins{0};
  double before = 0;
  for (std::uint32_t rank = 1; rank < ranks; ++rank) {
    before += std::pow(rank, -skew);
    const double others = static_cast<double>(shared) * before / whole;
    begins.push_back(rank + static_cast<std::uint64_t>(std::llround(others)));
  }
  begins.push_back(units);
  return begins;
}

}  // namespace

/// Rank w sends to w + 1, w + 2, ... (mod N), all at once: messages depend on nothing. Share k of a
/// rank's data is for rank k, and a rank keeps its own share. The shares are those of experts in a
/// mixture of experts: with `skew` s, rank k has the load 1 / (k + 1)^s. All ranks together send
/// N - 1 times the bytes, whatever the skew.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in
/// MPICH", IJHPCA 19 (2005), all-to-all of medium messages (all sends are posted, in an order that
/// differs from rank to rank). Deviations: connections share a rank's NIC instead of leaving one
/// by one; one exchange is an iteration, where a mixture of experts sends the results back.
CollectiveSchedule all_to_all_schedule(std::uint32_t ranks, std::uint64_t bytes,
                                       std::uint32_t unit_bytes, double skew) {
  const std::vector<std::uint64_t> begins = zipf_cut(ranks, bytes / unit_bytes, skew);
  CollectiveSchedule s{.ranks = ranks};
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (std::uint32_t k = 1; k < ranks; ++k) {
      const std::uint32_t to = (rank + k) % ranks;
      s.messages.push_back({.from = rank,
                            .to = to,
                            .begin_bytes = begins[to] * unit_bytes,
                            .bytes = (begins[to + 1] - begins[to]) * unit_bytes});
    }
  }
  return s;
}

}  // namespace outrider::tg
