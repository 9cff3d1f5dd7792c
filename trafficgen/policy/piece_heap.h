#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <vector>

#include "trafficgen/policy/send_policy.h"

namespace outrider::tg {

/// Orders pieces by urgency: the tensor that the next forward pass needs first, and of one tensor
/// the earlier piece. Memory is reserved at construction. Not thread-safe.
class PieceHeap {
 public:
  /// @param pieces largest number at once
  explicit PieceHeap(std::size_t pieces) { heap_.reserve(pieces); }

  void clear() noexcept { heap_.clear(); }
  /// @pre it holds fewer than `pieces`
  void push(const GradientPiece& piece) noexcept {
    assert(heap_.size() < heap_.capacity());
    heap_.push_back(piece);
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  /// @pre !empty()
  [[nodiscard]] const GradientPiece& top() const noexcept { return heap_.front(); }
  GradientPiece pop() noexcept {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const GradientPiece piece = heap_.back();
    heap_.pop_back();
    return piece;
  }

 private:
  static bool later(const GradientPiece& a, const GradientPiece& b) noexcept {
    return a.tensor != b.tensor ? a.tensor > b.tensor : a.index > b.index;
  }

  std::vector<GradientPiece> heap_;
};

}  // namespace outrider::tg
