#include "trafficgen/workload/collective/schedule/collective_schedule.h"

namespace outrider::tg {

/// Step k of rank w goes to rank w + 1 and carries chunk w - k (mod N). Steps 0 to N - 2 reduce and
/// scatter, steps N - 1 to 2N - 3 gather; in step N - 1 a rank sends chunk w + 1, which it has just
/// reduced completely. A rank may send step k > 0 when it has received step k - 1, because it then
/// passes that chunk on. Over a transport without order, a step does not wait for the one before.
///
/// Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
/// workstations", JPDC 69 (2009).
CollectiveSchedule ring_schedule(std::uint32_t ranks, std::uint64_t bytes,
                                 std::uint32_t unit_bytes) {
  const EvenCut chunks(ranks, bytes, unit_bytes);
  CollectiveSchedule s{.ranks = ranks};
  const std::uint32_t steps = 2 * (ranks - 1);
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const std::uint32_t chunk = (rank + 2 * ranks - step) % ranks;
      const std::uint32_t left = (rank + ranks - 1) % ranks;
      s.messages.push_back({.from = rank,
                            .to = (rank + 1) % ranks,
                            .begin_bytes = chunks.begin_of(chunk),
                            .bytes = chunks.bytes_of(chunk),
                            .sums = step >= ranks - 1});
      if (step > 0) s.messages.back().needs = {(step - 1) * ranks + left};
    }
  }
  return s;
}

}  // namespace outrider::tg
