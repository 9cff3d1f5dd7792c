#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/core/clock.h"

namespace outrider::tg {

/// Records when a worker received which parameters, and computes when its forward pass runs. The
/// pass takes the layers in order and begins each as soon as its parameters have arrived and the
/// previous layer is done. Not thread-safe; nothing allocates after construction.
class ForwardPass {
 public:
  /// @param parts [tensors]: number of pieces of each tensor, > 0
  /// @param shares [tensors]: share of the forward pass; the sum is 1
  ForwardPass(std::vector<std::uint32_t> parts, std::span<const double> shares)
      : parts_(std::move(parts)),
        missing_(parts_),
        shares_(shares.begin(), shares.end()),
        ready_(parts_.size()) {
    std::size_t pieces = 0;
    for (const std::uint32_t p : parts_) pieces += p;
    blocked_.reserve(pieces);
    assert(!parts_.empty() && shares.size() == parts_.size());
  }

  /// Begins the next iteration, with no parameters.
  void begin() noexcept {
    missing_ = parts_;
    blocked_.clear();
  }
  /// The worker does not compute from `from` to `to`. @pre `from` is not before the last `to`, and
  /// there are no more such times than pieces
  void on_blocked(Time from, Time to) noexcept { blocked_.push_back({from, to}); }
  /// A piece of the tensor's parameters has arrived. @pre one was missing
  void on_piece(std::uint32_t tensor, Time now) noexcept {
    assert(missing_[tensor] > 0);
    if (--missing_[tensor] == 0) ready_[tensor] = now;
  }
  [[nodiscard]] bool complete() const noexcept {
    return std::ranges::all_of(missing_, [](std::uint32_t m) { return m == 0; });
  }
  /// Returns when the first layer could begin. @pre complete()
  [[nodiscard]] Time first() const noexcept { return ready_.front(); }

  struct Result {
    Time end{};
    Duration waited{};  ///< for parameters, after the first layer's
  };
  /// Computes the run of the pass. @param forward computing time of the whole pass  @pre complete()
  [[nodiscard]] Result run(Duration forward) const noexcept {
    Result r{first(), Duration::zero()};
    auto blocked = blocked_.begin();
    for (std::size_t t = 0; t < ready_.size(); ++t) {
      r.waited += std::max(ready_[t] - r.end, Duration::zero());
      r.end = std::max(r.end, ready_[t]);
      Duration left = from_seconds(seconds(forward) * shares_[t]);
      for (; blocked != blocked_.end() && blocked->from < r.end + left; ++blocked) {
        if (blocked->to <= r.end) continue;
        left -= std::max(blocked->from - r.end, Duration::zero());
        r.end = blocked->to;
      }
      r.end += left;
    }
    return r;
  }

 private:
  struct Blocked {
    Time from{}, to{};
  };

  std::vector<std::uint32_t> parts_;
  std::vector<std::uint32_t> missing_;  ///< [tensors]
  std::vector<double> shares_;
  std::vector<Time> ready_;       ///< [tensors]
  std::vector<Blocked> blocked_;  ///< in order of time
};

}  // namespace outrider::tg
