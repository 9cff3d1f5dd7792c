#include "tests/support/adversary/trust_oracle.h"

#include <algorithm>

namespace outrider {
namespace {

/// Returns how many STARTs reached the regulator.
std::uint64_t heard_of(const RegulatorCounters& n) {
  return n.starts_armed + n.starts_repeated + n.starts_tightened + n.starts_stale +
         n.starts_refused_budget + n.starts_refused_sender + n.starts_refused_table;
}

/// Returns how many signals broke a rule other than a rate, a replay aside.
std::uint64_t disbelieved(const sw::SignalCounts& n) {
  return n.signals_not_accepted + n.signals_unsigned + n.signals_unknown_key + n.signals_bad_tag +
         n.signals_no_window + n.signals_over_key_rate + n.signals_not_authorised;
}

}  // namespace

bool TrustOracle::believes_stranger(const SeenFrame& start) const {
  if (signals_.accept_from.empty()) return false;
  if (!start.message) return signals_.accept_tos;
  return !signals_.require_signed && !start.message->proof;
}

bool TrustOracle::protects_workers() const {
  const bool share = !signals_.signers.empty() && signals_.signers[0].budget_share;
  return share || signals_.accept_from.empty() || (signals_.require_signed && !signals_.accept_tos);
}

std::optional<std::string> TrustOracle::judge_forged(const RegulatorCounters& before,
                                                     const RegulatorCounters& after) const {
  if (heard_of(after) == heard_of(before)) return std::nullopt;
  return "a START that nobody vouches for reaches the regulator";
}

std::optional<std::string> TrustOracle::judge_honest(const SeenFrame& start,
                                                     const sw::SignalCounts& before,
                                                     const sw::SignalCounts& after) {
  if (disbelieved(after) > disbelieved(before)) return "an honest START is not believed";
  if (!start.message || !start.message->proof) return std::nullopt;
  const std::uint64_t counter = start.message->counter;
  const bool first = heard_.emplace(start.flow.source_address, counter).second;
  const bool late =
      counter <= static_cast<std::uint64_t>(std::max(read_at_, Time{}).time_since_epoch().count());
  if (after.signals_replayed > before.signals_replayed && first && !late)
    return "an honest START that is new is refused as a replay";
  return std::nullopt;
}

}  // namespace outrider
