#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/core/clock.h"
#include "common/core/units.h"
#include "trafficgen/core/fifo.h"

namespace outrider::tg {

/// Decides whose turn it is at a NIC. It queues the connections that may send, by class.
///
/// With one class it is a queue in which connections take turns. Several classes model Linux's htb
/// as TensorLights uses it: each may borrow the whole link. A class that has had less than the
/// floor rate is served before those that borrow; otherwise the class of the lowest band is served,
/// and classes of one band take turns. Bands may be changed at any time: waiting connections keep
/// their places in their classes, so nothing is lost or reordered.
///
/// Source: Huang, Chen and Ng, TensorLights, HPBDC 2019. Deviation: htb's leaf sends with a burst
/// allowance at the floor rate; here the rate must have covered a whole packet. O(classes) per
/// packet with several classes, O(1) with one. Allocates if there were never as many connections;
/// not thread-safe.
class NicQueue {
 public:
  static constexpr std::size_t kMaxClasses = 64;  ///< one bit each

  explicit NicQueue(std::size_t expected) { classes_.emplace_back(expected, BitRate{1}); }

  /// Makes the classes. Call it once, before anything is queued.
  /// @param bands [classes], the lowest is served first; class 0 holds what belongs to no other
  /// @pre 2 to kMaxClasses
  void make_classes(std::span<const std::uint8_t> bands, BitRate floor) {
    assert(empty() && bands.size() <= kMaxClasses);
    classes_.clear();
    for (std::size_t i = 0; i < bands.size(); ++i) classes_.emplace_back(kExpected, floor);
    set_bands(bands);
  }
  /// @param bands [classes]
  void set_bands(std::span<const std::uint8_t> bands) noexcept {
    assert(bands.size() == classes_.size());
    for (std::size_t i = 0; i < bands.size(); ++i) classes_[i].band = bands[i];
  }

  void push(std::uint8_t c, std::uint32_t connection) {
    classes_[c].waiting.push(connection);
    backlog_ |= std::uint64_t{1} << c;
    ++size_;
  }
  /// @pre !empty()
  std::uint32_t pop(Time now) noexcept {
    const std::size_t c = has_one_class() ? 0 : next(now);
    last_ = c;
    --size_;
    const std::uint32_t connection = classes_[c].waiting.pop();
    if (classes_[c].waiting.empty()) backlog_ &= ~(std::uint64_t{1} << c);
    return connection;
  }
  /// Notes that a packet of a class was sent.
  void on_sent(std::uint8_t c, std::uint32_t bytes, Time now) noexcept {
    if (has_one_class()) return;
    Serializer& floor = classes_[c].floor;
    floor.transmit(bytes, std::max(floor.free_at(), now));
  }

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] bool has_one_class() const noexcept { return classes_.size() == 1; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Returns an entry that may come after `behind` others, for prefetching. @pre behind < size()
  [[nodiscard]] std::uint32_t peek(std::size_t behind) const noexcept {
    const auto& waiting =
        classes_[last_].waiting.empty()
            ? classes_[static_cast<std::size_t>(std::countr_zero(backlog_))].waiting
            : classes_[last_].waiting;
    return waiting.peek(behind < waiting.size() ? behind : waiting.size() - 1);
  }

 private:
  static constexpr std::size_t kExpected = 64;
  struct Class {
    Class(std::size_t expected, BitRate rate) : waiting(expected), floor(rate, RateLayer::kL2) {}
    Fifo<std::uint32_t> waiting;
    std::uint8_t band = 0;
    Serializer floor;  ///< busy while sent packets use up the floor rate: then the class borrows
  };

  [[nodiscard]] std::size_t next(Time now) const noexcept {
    std::size_t best = kMaxClasses;
    std::size_t best_rank = 0;
    for (std::uint64_t left = backlog_; left != 0; left &= left - 1) {
      const auto c = static_cast<std::size_t>(std::countr_zero(left));
      const bool borrows = classes_[c].floor.free_at() > now;
      // Among equals the next one after the class served last, cyclically.
      const std::size_t turn = (c + kMaxClasses - last_ - 1) % kMaxClasses;
      const std::size_t rank =
          (borrows ? 1U << 16 : 0U) + (std::size_t{classes_[c].band} << 8) + turn;
      if (best != kMaxClasses && rank >= best_rank) continue;
      best = c;
      best_rank = rank;
    }
    return best;
  }

  std::vector<Class> classes_;
  std::uint64_t backlog_ = 0;  ///< bit c: class c is not empty
  std::size_t size_ = 0;
  std::size_t last_ = 0;  ///< class served last
};

}  // namespace outrider::tg
