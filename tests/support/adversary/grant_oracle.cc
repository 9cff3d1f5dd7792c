#include "tests/support/adversary/grant_oracle.h"

namespace outrider {

std::optional<std::string> GrantOracle::judge(const sw::QueueCounts& counts) const {
  if (!judges()) return std::nullopt;
  const GrantCounters& n = counts.grant;
  const std::uint64_t over =
      n.complete + n.overstayed + n.no_answer + n.evicted + n.replaced + counts.announced_bursts;
  if (n.entered != over)
    return std::to_string(n.entered) + " bursts were announced, " + std::to_string(over) +
           " ended or are there";
  const std::uint64_t ended = passed(counts) + n.acks_replaced + counts.held_answers;
  if (n.acks_held != ended)
    return std::to_string(n.acks_held) + " answers were held, " + std::to_string(ended) +
           " have an end or are held";
  if (counts.announced_bursts > policy_.max_entries ||
      counts.held_answers > counts.announced_bursts)
    return std::to_string(counts.announced_bursts) + " bursts and " +
           std::to_string(counts.held_answers) + " answers exceed the table";
  const Duration longest{n.longest_wait_ns};
  if (longest > longest_wait())
    return "an answer waited " + std::to_string(longest.count()) + " ns, and may wait " +
           std::to_string(longest_wait().count());
  return std::nullopt;
}

std::optional<std::string> GrantOracle::judge_forged(const GrantCounters& before,
                                                     const GrantCounters& after) {
  if (after.entered == before.entered && after.replaced == before.replaced) return std::nullopt;
  return "a START that must not be believed announces a burst";
}

std::optional<std::string> GrantOracle::judge_end(const sw::QueueCounts& counts) {
  if (counts.announced_bursts + counts.held_answers + counts.granted_bytes == 0)
    return std::nullopt;
  return std::to_string(counts.announced_bursts) + " bursts, " +
         std::to_string(counts.held_answers) + " answers and " +
         std::to_string(counts.granted_bytes) + " bytes are left after all was silent";
}

}  // namespace outrider
