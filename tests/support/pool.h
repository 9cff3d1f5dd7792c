#pragma once

#include <cstdint>

#include "common/dpdk/packet/mempool.h"
#include "common/dpdk/packet/packet.h"

namespace outrider {

/// A pool for one test, which fails the test if packets are not given back exactly once: those
/// that were dropped without being released, or released twice.
class TestPool {
 public:
  explicit TestPool(std::uint32_t mbufs = 4096, std::uint32_t frame_room_bytes = kHeaderRoomBytes);
  ~TestPool();
  TestPool(const TestPool&) = delete;
  TestPool& operator=(const TestPool&) = delete;

  [[nodiscard]] rte_mempool& get() noexcept { return *pool_; }
  /// Returns the number of packets that are owned now.
  [[nodiscard]] std::uint32_t in_use() const noexcept;

 private:
  Mempool pool_;
};

}  // namespace outrider
