#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <vector>

#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "common/core/flow_table.h"
#include "common/core/recency_list.h"
#include "switch/regulation/policy/signer_share.h"

namespace outrider {

/// Bounds the time for which a queue is regulated: at most a share of every window
/// [n w, (n + 1) w), at three levels.
///
/// * Job: the server address and port of the bursts, as one sender announces them. So nobody
///   spends the share of another sender's job by naming its port.
/// * Sender: all jobs of a source address. Rotating ports or servers gains nothing beyond it.
/// * Queue: all senders together. Forging many source addresses gains nothing beyond it.
///
/// Each level counts the time in which at least one of its entries is live, so what overlaps
/// counts once. An entry ends when the first of its three allowances is used up. Windows are
/// fixed, not sliding: within any interval of length w a level holds the queue for less than
/// 2 x share x w. A prediction has no sender; its destination stands for one.
///
/// A signer may have a share of its own. Its entries are charged to the signer's account, whatever
/// their source addresses, and to the accounts of its jobs, but neither to senders nor to what all
/// others have together: that is the queue's share less the shares of all signers. So whatever
/// others announce, a signer is refused by its own accounts alone, and the other way round; and as
/// no time is regulated that no account is charged for, a queue is regulated in each window for at
/// most the sum of these caps, which is its share.
///
/// There are as many accounts of jobs and of senders as entries. If one more is needed, the idle
/// one that was used least recently is forgotten: it begins with a full allowance if it returns,
/// and the level above still counts what it used. No account with a live entry is forgotten.
///
/// All operations are O(1). Time never decreases from one acquire() to the next. A release() may
/// be ahead of an acquire() that follows it: what overlaps counts once, and no window begins
/// again. Not thread-safe.
class RegulationBudget {
 public:
  /// Shares of a window, each in (0, 1].
  struct Shares {
    double job = 1;
    double sender = 1;
    double queue = 1;
    SignerShares signers{};  ///< they add up to less than `queue`
  };

  /// @param max_entries that are live at once, > 0
  RegulationBudget(const Shares& shares, Duration window, std::uint32_t max_entries)
      : jobs_(max_entries), senders_(max_entries), signers_(kMaxSignerShares) {
    change(shares, window);
  }

  /// Changes the bounds, also in the middle of a window. An end that acquire() returned before
  /// stays. Within the window in which they change, a stretch that goes on counts from its start;
  /// after that, from the start of each window, however the windows were cut when it began.
  void change(const Shares& shares, Duration window) noexcept {
    assert(window > Duration::zero());
    window_ = window;
    Duration of_others = allowance(shares.queue);
    for (std::size_t i = 0; i < kMaxSignerShares; ++i) {
      const double share = shares.signers[i].budget_share;
      signers_[i].allowance = share > 0 ? allowance(share) : Duration::zero();
      of_others -= signers_[i].allowance;
    }
    allowances_ = {allowance(shares.job), allowance(shares.sender), of_others};
  }

  /// Counts one more live entry of the flow's job, its sender and the queue.
  /// @param signer  number of the one who is charged instead of the sender; 0: nobody. Without a
  /// share it is refused
  /// @return the instant at which the first allowance is used up if the entry stays live; or
  ///         `now`, with nothing taken, if one is used up or there is no room for an account
  Time acquire(const FlowKey& flow, Time now, std::uint16_t signer = 0) noexcept {
    if (signer != 0) return acquire_signed(flow, now, signer);
    if (!may_begin(&queue_, allowances_[kQueue], now) ||
        !may_begin(senders_.find(sender_of(flow)), allowances_[kSender], now))
      return now;
    if (!may_begin(jobs_.find(account_of(flow)), allowances_[kJob], now)) return now;
    Account* job = jobs_.open(account_of(flow));
    if (job == nullptr) return now;
    // Each live job is of one sender, so there is room for a sender where there is for its job.
    Account* sender = senders_.open(sender_of(flow));
    assert(sender != nullptr);
    return std::min({enter(*job, allowances_[kJob], now), enter(*sender, allowances_[kSender], now),
                     enter(queue_, allowances_[kQueue], now)});
  }

  /// Counts the end of one entry of the flow's job at `at`. Ends that are noticed together
  /// may be given in any order. @pre acquire() was called for it, and for the same signer
  void release(const FlowKey& flow, Time at, std::uint16_t signer = 0) noexcept {
    if (signer != 0) {
      leave(jobs_.at(account_of(flow, signer)), at);
      leave(signers_[signer - 1].account, at);
      return jobs_.settle(account_of(flow, signer));
    }
    leave(jobs_.at(account_of(flow)), at);
    leave(senders_.at(sender_of(flow)), at);
    leave(queue_, at);
    jobs_.settle(account_of(flow));
    senders_.settle(sender_of(flow));
  }

  /// Returns the key that identifies the flow's job, whoever sends for it.
  static FlowKey job_of(const FlowKey& f) noexcept {
    return {0, f.destination_address, 0, f.destination_port};
  }
  /// Returns the key that identifies who sends the flow.
  static FlowKey sender_of(const FlowKey& f) noexcept {
    return {f.source_address, f.source_address == 0 ? f.destination_address : 0, 0, 0};
  }

  /// Memory of an entry's accounts.
  static std::size_t bytes_per_entry() noexcept { return 2 * Accounts::bytes_per_account(); }

 private:
  enum Level : std::uint8_t { kJob, kSender, kQueue };

  struct Account {
    FlowKey key{};
    Time window_start{};
    Duration held{};  ///< within the window, without the current stretch
    Time since{};     ///< start of the current stretch, if live > 0
    Time last_end{};  ///< latest end of an entry so far
    std::uint32_t live = 0;
  };
  struct Signer {
    Account account{};
    Duration allowance{};
  };

  /// The accounts of a level: a bounded table that forgets idle ones.
  class Accounts {
   public:
    explicit Accounts(std::uint32_t limit) : index_(limit), idle_(limit) { slots_.reserve(limit); }

    [[nodiscard]] Account* find(const FlowKey& key) noexcept {
      const std::uint32_t* slot = index_.find(key);
      return slot == nullptr ? nullptr : &slots_[*slot];
    }
    /// @pre it exists
    [[nodiscard]] Account& at(const FlowKey& key) noexcept {
      Account* account = find(key);
      assert(account != nullptr);
      return *account;
    }
    /// Finds or opens an account, which is not idle afterwards. @return nullptr if all are live
    Account* open(const FlowKey& key) noexcept {
      if (const std::uint32_t* slot = index_.find(key)) {
        if (idle_.contains(*slot)) idle_.remove(*slot);
        return &slots_[*slot];
      }
      auto slot = static_cast<std::uint32_t>(slots_.size());
      if (index_.full()) {
        slot = idle_.oldest();
        if (slot == RecencyList::kNone) return nullptr;
        idle_.remove(slot);
        index_.erase(slots_[slot].key);
      } else {
        slots_.emplace_back();
      }
      slots_[slot] = {.key = key};
      index_.insert(key, slot);
      return &slots_[slot];
    }
    /// Makes the account idle if no entry of it is live.
    void settle(const FlowKey& key) noexcept {
      const std::uint32_t slot = *index_.find(key);
      if (slots_[slot].live == 0) idle_.add(slot);
    }
    static std::size_t bytes_per_account() noexcept {
      return sizeof(Account) + SlotLinks::bytes_per_slot() +
             2 * (sizeof(FlowKey) + 2 * sizeof(std::uint32_t));
    }

   private:
    FlowTable<std::uint32_t> index_;  ///< key -> position in slots_
    std::vector<Account> slots_;      ///< capacity: the limit
    RecencyList idle_;                ///< accounts without a live entry
  };

  static FlowKey account_of(const FlowKey& f) noexcept {
    return {f.source_address, f.destination_address, 0, f.destination_port};
  }
  /// That of a signer differs from all of senders by its source port.
  static FlowKey account_of(const FlowKey& f, std::uint16_t signer) noexcept {
    return {0, f.destination_address, signer, f.destination_port};
  }

  Time acquire_signed(const FlowKey& flow, Time now, std::uint16_t number) noexcept {
    assert(number <= kMaxSignerShares);
    Signer& signer = signers_[number - 1];
    const FlowKey key = account_of(flow, number);
    if (!may_begin(&signer.account, signer.allowance, now) ||
        !may_begin(jobs_.find(key), allowances_[kJob], now))
      return now;
    Account* job = jobs_.open(key);
    if (job == nullptr) return now;
    return std::min(enter(*job, allowances_[kJob], now),
                    enter(signer.account, signer.allowance, now));
  }

  [[nodiscard]] Duration allowance(double share) const noexcept {
    assert(share > 0 && share <= 1);
    return Duration{static_cast<std::int64_t>(share * static_cast<double>(window_.count()))};
  }
  [[nodiscard]] Time window_start_of(Time t) const noexcept {
    return t - t.time_since_epoch() % window_;
  }

  void roll(Account& account, Time now) const noexcept {
    const Time start = window_start_of(now);
    if (start == account.window_start || now < account.last_end) return;
    account.window_start = start;
    account.held = Duration::zero();
  }

  /// @param account nullptr: its allowance is whole
  [[nodiscard]] bool may_begin(Account* account, Duration allowance, Time now) const noexcept {
    if (account == nullptr) return true;
    if (account->live > 0) return exhausted_at(*account, allowance, now) > now;
    roll(*account, now);
    return account->held < allowance;
  }

  Time enter(Account& account, Duration allowance, Time now) const noexcept {
    if (account.live++ == 0) {
      account.since = std::max(now, account.last_end);
      roll(account, account.since);
    }
    return exhausted_at(account, allowance, now);
  }

  void leave(Account& account, Time at) const noexcept {
    assert(account.live > 0);
    account.last_end = std::max(account.last_end, at);
    if (--account.live > 0) return;
    roll(account, account.last_end);
    account.held += account.last_end - std::max(account.since, account.window_start);
    assert(account.held <= account.last_end - account.window_start);
  }

  /// A stretch that outlives its window is charged to the next window from that window's
  /// start. With share 1 the allowance never ends.
  ///
  /// Unless the bounds changed, a stretch that outlived a window had something left of it. After a
  /// change it may not have, and the window in which it began says nothing about `now`.
  [[nodiscard]] Time exhausted_at(const Account& account, Duration allowance,
                                  Time now) const noexcept {
    const Time since = std::max(account.since, window_start_of(now));
    const Time window_end = window_start_of(since) + window_;
    const Duration held =
        account.window_start == window_start_of(since) ? account.held : Duration::zero();
    const Time end = since + (allowance - held);
    if (end < window_end) return end;
    return allowance >= window_ ? kNever : window_end + allowance;
  }

  std::array<Duration, 3> allowances_{};  ///< by Level; the queue's: of all but signers
  Duration window_{};
  Accounts jobs_;
  Accounts senders_;
  Account queue_{};              ///< of all but signers with a share
  std::vector<Signer> signers_;  ///< by their number less one
};

}  // namespace outrider
