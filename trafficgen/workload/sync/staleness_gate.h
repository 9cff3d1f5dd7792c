#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>
#include <vector>

namespace outrider::tg {

/// Decides when a worker that has pushed iteration i may begin iteration i + 1: when every worker
/// has pushed at least i + 1 - bound iterations. A bound of 0 is bulk-synchronous, no bound is
/// asynchronous, other bounds are stale-synchronous.
///
/// It also counts staleness: the updates of other workers that were applied between a worker's last
/// read and its own update. With bound 0 the updates of an iteration are applied together, and
/// staleness is 0.
///
/// Source: Ho et al., "More Effective Distributed ML via a Stale Synchronous
/// Parallel Parameter Server", NIPS 2013, section 2: "the fastest and slowest
/// workers must be <= s clocks apart". O(1) per push, O(workers) when the slowest
/// worker pushes. Allocates at construction only; not thread-safe.
class StalenessGate {
 public:
  StalenessGate(std::uint32_t workers, std::optional<std::uint32_t> bound)
      : bound_(bound),
        pushes_(workers, 0),
        waiting_(workers, false),
        read_(workers, 0),
        at_slowest_(workers) {}

  /// A worker's whole push has arrived. Call clear() afterwards.
  /// @return the staleness of its update
  std::uint64_t on_push(std::uint32_t worker) noexcept {
    assert(!waiting_[worker]);
    const std::uint64_t staleness = bound_ == 0U ? 0 : updates_ - read_[worker];
    ++updates_;
    waiting_[worker] = true;
    if (pushes_[worker]++ == slowest_ && --at_slowest_ == 0) find_slowest();
    return staleness;
  }

  /// Calls on_clear(worker) for every worker that may go on now, in order of index. on_clear() must
  /// not call on_push().
  template <class OnClear>
  void clear(OnClear&& on_clear) {
    for (std::uint32_t w = 0; w < pushes_.size(); ++w) {
      if (!waiting_[w] || !within_bound(w)) continue;
      waiting_[w] = false;
      on_clear(w);
    }
  }

  /// The worker reads the parameters now.
  void on_read(std::uint32_t worker) noexcept { read_[worker] = updates_; }

  [[nodiscard]] std::uint32_t pushes(std::uint32_t worker) const noexcept {
    return pushes_[worker];
  }
  /// Returns the number of pushes of the slowest worker.
  [[nodiscard]] std::uint32_t slowest() const noexcept { return slowest_; }

 private:
  [[nodiscard]] bool within_bound(std::uint32_t worker) const noexcept {
    return !bound_ || pushes_[worker] - slowest_ <= *bound_;
  }
  void find_slowest() noexcept {
    slowest_ = *std::ranges::min_element(pushes_);
    at_slowest_ = static_cast<std::uint32_t>(std::ranges::count(pushes_, slowest_));
  }

  std::optional<std::uint32_t> bound_;
  std::vector<std::uint32_t> pushes_;  ///< [workers], all >= slowest_
  std::vector<bool> waiting_;          ///< [workers], pushed and not cleared
  std::vector<std::uint64_t> read_;    ///< [workers], updates_ at its last read
  std::uint64_t updates_ = 0;
  std::uint32_t slowest_ = 0;
  std::uint32_t at_slowest_;  ///< workers with pushes == slowest_
};

}  // namespace outrider::tg
