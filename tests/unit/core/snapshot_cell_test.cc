#include "common/core/snapshot_cell.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>

namespace outrider::snapshot_cell_test {
namespace {

struct Value {
  std::array<std::uint64_t, 16> all_equal{};
};

TEST(SnapshotCell, ReadsWhatWasWrittenLast) {
  SnapshotCell<Value> cell;
  EXPECT_EQ(cell.read().all_equal[3], 0U);
  Value v;
  v.all_equal.fill(7);
  cell.write(v);
  EXPECT_EQ(cell.read().all_equal, v.all_equal);
}

// Bounded by the writes, not by time: the reader looks until the writer has ended.
TEST(SnapshotCell, AReaderNeverSeesHalfAWrite) {
  constexpr std::uint64_t kWrites = 200'000;
  SnapshotCell<Value> cell;
  std::atomic<bool> started{false};
  std::thread writer([&] {
    while (!started) std::this_thread::yield();
    for (std::uint64_t n = 1; n <= kWrites; ++n) {
      Value v;
      v.all_equal.fill(n);
      cell.write(v);
    }
  });
  std::uint64_t last = 0, reads = 0, torn = 0, backwards = 0;
  started = true;
  while (last < kWrites) {
    const Value v = cell.read();
    for (const auto word : v.all_equal) torn += word != v.all_equal[0];
    backwards += v.all_equal[0] < last;
    last = v.all_equal[0];
    ++reads;
  }
  writer.join();
  EXPECT_EQ(torn, 0U);
  EXPECT_EQ(backwards, 0U);
  EXPECT_GT(reads, 0U);
}

}  // namespace
}  // namespace outrider::snapshot_cell_test
