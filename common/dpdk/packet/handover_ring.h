#pragma once

#include <rte_errno.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "common/dpdk/eal/dpdk_releases.h"
#include "common/dpdk/eal/error.h"

namespace outrider {

/// Bounded queue from one lcore to another: one thread puts, another takes, neither waits.
/// An rte_ring in its single-producer, single-consumer form.
///
/// @tparam Item is copied; its size is a multiple of 4, as rte_ring requires
template <class Item>
class HandoverRing {
  /// Size of the copied item, which may be a pointer.
  static constexpr unsigned kItemBytes = sizeof(std::array<Item, 1>);
  static_assert(std::is_trivially_copyable_v<Item> && kItemBytes % 4 == 0);

 public:
  /// @param name unique in the process, at most 25 characters
  /// @param items capacity
  /// @throws DpdkError
  HandoverRing(const std::string& name, std::uint32_t items)
      : ring_(create_ring_of_items(name.c_str(), kItemBytes, items, SOCKET_ID_ANY,
                                   RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ)) {
    if (ring_ == nullptr) throw DpdkError("rte_ring_create_elem", name, rte_errno);
  }

  /// @return how many items were taken, counted from the first
  std::uint32_t put(std::span<const Item> items) noexcept {
    return rte_ring_sp_enqueue_burst_elem(ring_.get(), items.data(), kItemBytes,
                                          static_cast<unsigned>(items.size()), nullptr);
  }
  /// @return how many places of `room` were filled, oldest item first
  std::uint32_t take(std::span<Item> room) noexcept {
    return rte_ring_sc_dequeue_burst_elem(ring_.get(), room.data(), kItemBytes,
                                          static_cast<unsigned>(room.size()), nullptr);
  }
  /// Returns the number of items; exact only while neither side runs.
  [[nodiscard]] std::uint32_t size() const noexcept {
    // As rte_ring_count(), which reads both ends as if nobody wrote them meanwhile.
    const std::uint32_t put = __atomic_load_n(&ring_->prod.tail, __ATOMIC_RELAXED);
    const std::uint32_t taken = __atomic_load_n(&ring_->cons.tail, __ATOMIC_RELAXED);
    return std::min((put - taken) & ring_->mask, ring_->capacity);
  }

 private:
  struct Free {
    void operator()(rte_ring* ring) const noexcept { rte_ring_free(ring); }
  };
  std::unique_ptr<rte_ring, Free> ring_;
};

}  // namespace outrider
