#pragma once

#include <cstdint>

#include "common/dpdk/mempool.h"
#include "common/dpdk/packet.h"

namespace outrider {

/// A pool of a test's own that misses what is not given back: whoever dropped a
/// packet without releasing it, or released it twice, fails the test.
class TestPool {
 public:
  explicit TestPool(std::uint32_t mbufs = 4096, std::uint32_t frame_room_bytes = kHeaderRoomBytes);
  ~TestPool();
  TestPool(const TestPool&) = delete;
  TestPool& operator=(const TestPool&) = delete;

  [[nodiscard]] rte_mempool& get() noexcept { return *pool_; }
  /// Packets that somebody owns now.
  [[nodiscard]] std::uint32_t in_use() const noexcept;

 private:
  Mempool pool_;
};

}  // namespace outrider
