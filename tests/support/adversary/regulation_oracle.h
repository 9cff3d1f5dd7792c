#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "switch/regulation/policy/regulation_policy.h"
#include "switch/report/counts.h"
#include "tests/support/adversary/seen_frame.h"

namespace outrider {

/// Judges one regulated queue from outside: what it has been shown, and its counters.
///
/// - In every window of the budget, regulated time is at most the queue's share.
/// - There are no more live entries than flows whose last START or payload is younger than their
///   expiry.
/// - What a signer's share was set aside for is refused only by that share, or by the share of time
///   of a job.
/// - A START of a sender in whose name nobody else has sent one is refused only if the sender's
///   own entries may have used up its share of time or places, or all senders together the
///   queue's. What the sender has used is estimated from above.
class RegulationOracle {
 public:
  /// @param signer  the one that has a share of its own; nothing: none has
  RegulationOracle(const RegulationPolicy& policy, double tokens,
                   const std::optional<SignerShare>& signer)
      : tokens_(tokens), signer_(signer) {
    policies_.push_back({Time{}, policy});
  }

  /// A flow as it was announced. What is signed is charged to the signer with a share.
  struct Announced {
    FlowKey flow;
    bool is_signed = false;
    auto operator<=>(const Announced&) const = default;
  };

  /// The policy changes, or (`anew`) the switch forgets everything.
  void change(const RegulationPolicy& policy, bool anew, Time now);
  void hear_start(const Announced& start, Duration due_in, Time now);
  void hear_payload(const FlowKey& flow, Time now);
  /// Nothing is promised any more to this sender: somebody sends STARTs in its name.
  void impersonated(std::uint32_t address) { impersonated_.insert(address); }

  /// Judges the state at the end of a step. @param settled  begins and ends due were applied
  [[nodiscard]] std::optional<std::string> judge(const sw::QueueCounts& counts, bool settled,
                                                 Time now);
  /// Judges the verdict on one START of an honest sender.
  [[nodiscard]] std::optional<std::string> judge_start(const Announced& start,
                                                       const sw::QueueCounts& before,
                                                       const sw::QueueCounts& after, bool over_rate,
                                                       Time now);
  /// Returns the instant from which no announced entry can be live.
  [[nodiscard]] Time silent_at() const;

 private:
  struct InForce {
    Time from{};
    RegulationPolicy policy;
  };
  struct Sender {
    Duration used{};           ///< at most, in the current window
    std::uint32_t starts = 0;  ///< in the current window
  };

  [[nodiscard]] const RegulationPolicy& policy() const { return policies_.back().policy; }
  [[nodiscard]] Duration longest_expiry() const;
  /// Returns the policies that were in force in the current window or the one before.
  [[nodiscard]] std::vector<RegulationPolicy> recent(Time now) const;
  void roll(const sw::QueueCounts& counts, Time now);
  /// Returns who is charged: an address, or zero for the signer.
  [[nodiscard]] std::uint32_t account_of(const Announced& start) const {
    return signer_ && start.is_signed ? 0 : start.flow.source_address;
  }
  [[nodiscard]] std::uint32_t live_flows(std::optional<std::uint32_t> account, Time now) const;
  [[nodiscard]] std::optional<std::string> judge_budget(std::uint32_t account, Duration queue_used,
                                                        Time now);

  double tokens_;
  std::optional<SignerShare> signer_;
  std::vector<InForce> policies_;
  std::map<Announced, Time> live_until_;     ///< no entry lives longer
  std::map<std::uint32_t, Sender> senders_;  ///< by account
  std::set<std::uint32_t> announcers_;       ///< accounts
  std::set<std::uint32_t> impersonated_;     ///< addresses
  std::int64_t window_ = -1;                 ///< number of the current window
  std::int64_t regulated_before_ = 0;        ///< regulated time until the current window [ns]
  Time judged_at_{};
};

}  // namespace outrider
