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
    assert(!parts_.empty() && shares.size() == parts_.size());
  }

  /// Begins the next iteration, with no parameters.
  void begin() noexcept { missing_ = parts_; }
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
    for (std::size_t t = 0; t < ready_.size(); ++t) {
      r.waited += std::max(ready_[t] - r.end, Duration::zero());
      r.end = std::max(r.end, ready_[t]) + from_seconds(seconds(forward) * shares_[t]);
    }
    return r;
  }

 private:
  std::vector<std::uint32_t> parts_;
  std::vector<std::uint32_t> missing_;  ///< [tensors]
  std::vector<double> shares_;
  std::vector<Time> ready_;  ///< [tensors]
};

}  // namespace outrider::tg
