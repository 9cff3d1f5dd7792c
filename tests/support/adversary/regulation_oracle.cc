#include "tests/support/adversary/regulation_oracle.h"

#include <algorithm>

namespace outrider {
namespace {

/// A step of the judge: the sender's own use is known to this much.
constexpr Duration kMargin = std::chrono::milliseconds(2);

Duration share_of(double share, const RegulationPolicy& p) {
  return Duration{static_cast<std::int64_t>(share * static_cast<double>(p.budget_window.count()))};
}
Duration own_share_of(const RegulationPolicy& p) {
  return share_of(std::min(p.budget_share, sender_share_of(p)), p);
}

}  // namespace

Duration RegulationOracle::longest_expiry() const {
  Duration longest{};
  for (const auto& p : policies_) longest = std::max(longest, p.policy.expiry);
  return longest;
}

std::vector<RegulationPolicy> RegulationOracle::recent(Time now) const {
  std::vector<RegulationPolicy> found;
  const Time since = now - 2 * policy().budget_window;
  for (std::size_t i = 0; i < policies_.size(); ++i)
    if (i + 1 == policies_.size() || policies_[i + 1].from >= since)
      found.push_back(policies_[i].policy);
  return found;
}

void RegulationOracle::change(const RegulationPolicy& policy, bool anew, Time now) {
  const Duration before = longest_expiry();
  policies_.push_back({now, policy});
  // The policy holds for live entries as well.
  for (auto& [flow, until] : live_until_) until += longest_expiry() - before;
  if (!anew) return;
  live_until_.clear();
  regulated_before_ = 0;
  for (auto& [address, sender] : senders_) sender = {};
}

void RegulationOracle::hear_start(const Announced& start, Duration due_in, Time now) {
  announcers_.insert(account_of(start));
  ++senders_[account_of(start)].starts;
  Time& until = live_until_[start];
  until = std::max(until, now + due_in + longest_expiry());
}

void RegulationOracle::hear_payload(const FlowKey& flow, Time now) {
  for (const bool is_signed : {false, true}) {
    const auto found = live_until_.find({flow, is_signed});
    if (found != live_until_.end() && found->second >= now)
      found->second = std::max(found->second, now + longest_expiry());
  }
}

std::uint32_t RegulationOracle::live_flows(std::optional<std::uint32_t> account, Time now) const {
  return static_cast<std::uint32_t>(std::ranges::count_if(live_until_, [&](const auto& f) {
    return f.second >= now && (!account || account_of(f.first) == *account);
  }));
}

void RegulationOracle::roll(const sw::QueueCounts& counts, Time now) {
  const std::int64_t window = now.time_since_epoch() / policy().budget_window;
  if (window == window_) return;
  window_ = window;
  regulated_before_ = counts.regulated_ns;
  for (auto& [address, sender] : senders_) sender = {};
}

std::optional<std::string> RegulationOracle::judge(const sw::QueueCounts& counts, bool settled,
                                                   Time now) {
  Duration most{};
  for (const auto& p : recent(now)) most = std::max(most, share_of(queue_share_of(p), p));
  const Duration used{counts.regulated_ns - regulated_before_};
  for (const std::uint32_t address : announcers_)
    if (live_flows(address, judged_at_) > 0) senders_[address].used += now - judged_at_;
  judged_at_ = now;
  std::optional<std::string> wrong;
  if (used > most)
    wrong = "regulated for " + std::to_string(used.count()) +
            " ns of a window, the queue's share " + "is " + std::to_string(most.count());
  if (settled) {
    const bool predicts = policy().predict.from != PredictFrom::kOff;
    const std::uint64_t bound = live_flows({}, now) + (predicts ? policy().predict.max_jobs : 0);
    if (counts.entries_left > bound)
      wrong = std::to_string(counts.entries_left) + " entries live, " + std::to_string(bound) +
              " may be: one outlives its expiry";
  }
  std::erase_if(live_until_, [now](const auto& f) { return f.second + kMargin < now; });
  roll(counts, now);
  return wrong;
}

/// Judges a refusal by the budget.
std::optional<std::string> RegulationOracle::judge_budget(std::uint32_t account,
                                                          Duration queue_used, Time now) {
  const bool set_aside = signer_ && account == 0;
  Duration own_least = Duration::max(), queue_least = Duration::max();
  for (const auto& p : recent(now)) {
    const Duration own =
        set_aside ? share_of(std::min(p.budget_share, signer_->budget_share), p) : own_share_of(p);
    own_least = std::min(own_least, own);
    queue_least = std::min(queue_least, share_of(queue_share_of(p), p));
  }
  const Duration used = senders_[account].used;
  if (used + kMargin >= own_least || (!set_aside && queue_used + kMargin >= queue_least))
    return std::nullopt;
  return "an honest START is refused by the budget: its sender used " +
         std::to_string(used.count()) + " ns of " + std::to_string(own_least.count()) +
         ", the queue " + std::to_string(queue_used.count()) + " of " +
         std::to_string(queue_least.count());
}

std::optional<std::string> RegulationOracle::judge_start(const Announced& start,
                                                         const sw::QueueCounts& before,
                                                         const sw::QueueCounts& after,
                                                         bool over_rate, Time now) {
  if (impersonated_.contains(start.flow.source_address)) return std::nullopt;
  const std::uint32_t account = account_of(start);
  const bool set_aside = signer_ && account == 0;
  if (over_rate && senders_[account].starts <= tokens_) return "an honest START finds no token";
  if (after.starts_refused_budget > before.starts_refused_budget)
    if (auto wrong = judge_budget(account, Duration{after.regulated_ns - regulated_before_}, now))
      return wrong;
  const std::uint32_t per_sender =
      set_aside ? signer_->max_entries : max_entries_per_sender_of(policy());
  if (after.starts_refused_sender > before.starts_refused_sender &&
      live_flows(account, now) <= per_sender)
    return "an honest START is refused though its sender has places left";
  if (after.starts_refused_table == before.starts_refused_table) return std::nullopt;
  if (set_aside) return "an honest START finds no place, though places are set aside for it";
  const bool predicts = policy().predict.from != PredictFrom::kOff;
  if (!predicts && !signer_ && announcers_.size() * per_sender <= policy().max_entries)
    return "an honest START finds no place, though no sender has more than its share";
  return std::nullopt;
}

Time RegulationOracle::silent_at() const {
  Time last{};
  for (const auto& [flow, until] : live_until_) last = std::max(last, until);
  return last;
}

}  // namespace outrider
