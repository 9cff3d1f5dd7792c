#pragma once

#include <cassert>
#include <cstdint>
#include <utility>
#include <vector>

namespace outrider {

/// Many heaps over the slots 0 to slots - 1 of a table, which tell the least key among the slots
/// of a group each. A slot is in one heap at most, and the owner knows in which. A heap takes no
/// memory beyond its slots, so groups may come and go.
///
/// add() and remove() take O(log n) steps for a heap of n slots, in the worst case, and least()
/// takes one. Allocates only at construction. Not thread-safe.
///
/// Source: leftist trees, Knuth, The Art of Computer Programming, vol. 3, 5.2.3.
template <class Key>
class MergeableHeaps {
 public:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;
  struct Heap {
    std::uint32_t root = kNone;
    [[nodiscard]] bool empty() const noexcept { return root == kNone; }
  };

  /// @param slots > 0, < kNone
  explicit MergeableHeaps(std::uint32_t slots) : nodes_(slots) {
    assert(slots > 0 && slots < kNone);
  }

  /// @pre the slot is in no heap
  void add(Heap& heap, std::uint32_t slot, const Key& key) noexcept {
    nodes_[slot] = {.key = key};
    heap.root = merge(heap.root, slot);
    nodes_[heap.root].parent = kNone;
  }
  /// @pre the slot is in that heap
  void remove(Heap& heap, std::uint32_t slot) noexcept {
    const Node gone = nodes_[slot];
    const std::uint32_t heir = merge(gone.left, gone.right);
    if (heir != kNone) nodes_[heir].parent = gone.parent;
    if (gone.parent == kNone) {
      heap.root = heir;
      return;
    }
    Node& parent = nodes_[gone.parent];
    (parent.left == slot ? parent.left : parent.right) = heir;
    for (std::uint32_t n = gone.parent; n != kNone && rerank(n); n = nodes_[n].parent) {
    }
  }
  /// Returns the least key. @pre !heap.empty()
  [[nodiscard]] const Key& least(const Heap& heap) const noexcept {
    assert(!heap.empty());
    return nodes_[heap.root].key;
  }

  /// Returns the nodes that were visited so far: for tests of what an operation costs.
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
  /// Memory of a slot.
  static constexpr std::size_t bytes_per_slot() noexcept { return sizeof(Node); }

 private:
  /// No key in a subtree is less than that of its root, and no right child has a higher rank
  /// than its sibling. So the path of right children is never longer than log2(n + 1).
  struct Node {
    Key key{};
    std::uint32_t parent = kNone;
    std::uint32_t left = kNone;
    std::uint32_t right = kNone;
    std::uint32_t rank = 1;  ///< nodes on the shortest path downwards until a child is missing
  };

  [[nodiscard]] std::uint32_t rank_of(std::uint32_t n) const noexcept {
    return n == kNone ? 0 : nodes_[n].rank;
  }
  /// Puts the children of a node in order. @return whether its rank has changed
  bool rerank(std::uint32_t n) noexcept {
    ++steps_;
    Node& node = nodes_[n];
    if (rank_of(node.left) < rank_of(node.right)) std::swap(node.left, node.right);
    const std::uint32_t before = node.rank;
    node.rank = rank_of(node.right) + 1;
    return node.rank != before;
  }
  /// Joins two trees along their right children. @return the root; its parent is not set
  std::uint32_t merge(std::uint32_t a, std::uint32_t b) noexcept {
    if (a == kNone) return b;
    if (b == kNone) return a;
    if (nodes_[b].key < nodes_[a].key) std::swap(a, b);
    std::uint32_t at = a;
    while (b != kNone) {
      ++steps_;
      const std::uint32_t right = nodes_[at].right;
      if (right != kNone && !(nodes_[b].key < nodes_[right].key)) {
        at = right;
        continue;
      }
      nodes_[at].right = b;
      nodes_[b].parent = at;
      if (right == kNone) break;
      at = b;
      b = right;
    }
    for (; at != a; at = nodes_[at].parent) rerank(at);
    rerank(a);
    return a;
  }

  std::vector<Node> nodes_;
  std::uint64_t steps_ = 0;
};

}  // namespace outrider
