#include "tests/support/pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

namespace outrider {

namespace {
std::string unique_name() {
  static std::atomic<std::uint32_t> made{0};
  return "frames" + std::to_string(made++);
}
}  // namespace

TestPool::TestPool(std::uint32_t mbufs, std::uint32_t frame_room_bytes)
    : pool_(make_packet_pool(
          {.name = unique_name(), .mbufs = mbufs, .frame_room_bytes = frame_room_bytes})) {}

TestPool::~TestPool() { EXPECT_EQ(in_use(), 0U) << "packets were not given back"; }

std::uint32_t TestPool::in_use() const noexcept { return rte_mempool_in_use_count(pool_.get()); }

}  // namespace outrider
