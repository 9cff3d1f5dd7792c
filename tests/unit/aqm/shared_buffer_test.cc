// Goal: dynamic thresholds as Choudhury and Hahne define them, and no byte lost in the
// account. Method: steady states against the paper's formula, random steps against a
// model that adds everything up anew, and metamorphic checks.
#include "switch/aqm/shared_buffer.h"

#include <gtest/gtest.h>

#include <array>

#include "common/core/random.h"

namespace outrider::shared_buffer_test {
namespace {

using Share = SharedBuffer::QueueShare;

/// Offers frames to the queues in turn until none is admitted any more.
void fill(SharedBuffer& buffer, std::size_t first, std::size_t queues, std::uint32_t frame_bytes) {
  for (bool admitted = true; admitted;) {
    admitted = false;
    for (std::size_t q = first; q < first + queues; ++q) {
      if (buffer.admits(q, frame_bytes) != BufferVerdict::kAdmit) continue;
      buffer.charge(q, frame_bytes);
      admitted = true;
    }
  }
}

// n greedy queues get alpha / (1 + n alpha) each (section III).
TEST(SharedBuffer, GreedyQueuesSettleAtTheDynamicThreshold) {
  constexpr std::uint32_t kFrame = 100;
  for (const double alpha : {0.125, 0.5, 1.0, 2.0, 8.0})
    for (const std::size_t active : {1U, 2U, 5U, 16U}) {
      const std::vector<Share> shares(16, Share{.reserved_bytes = 0, .alpha = alpha});
      SharedBuffer buffer(1'000'000, shares);
      fill(buffer, 0, active, kFrame);
      const double each = 1e6 * alpha / (1 + static_cast<double>(active) * alpha);
      for (std::size_t q = 0; q < active; ++q)
        EXPECT_NEAR(static_cast<double>(buffer.used_bytes(q)), each, (1 + alpha) * kFrame + 1)
            << alpha << ' ' << active;
      for (std::size_t q = active; q < 16; ++q)
        EXPECT_EQ(buffer.admits(q, kFrame), BufferVerdict::kAdmit) << "a queue that wakes up";
    }
}

TEST(SharedBuffer, AVeryLargeAlphaIsCompleteSharing) {
  const std::array<Share, 3> shares{Share{0, 1e12}, Share{0, 1e12}, Share{0, 1e12}};
  SharedBuffer buffer(10'000, shares);
  fill(buffer, 0, 1, 100);
  EXPECT_EQ(buffer.used_bytes(), 10'000U) << "one queue may take it all, to the byte";
  EXPECT_EQ(buffer.admits(1, 1), BufferVerdict::kFull);
  buffer.release(0, 100);
  EXPECT_EQ(buffer.admits(1, 100), BufferVerdict::kAdmit);
  EXPECT_EQ(buffer.admits(1, 101), BufferVerdict::kFull);
}

TEST(SharedBuffer, TheReservedShareIsAlwaysThere) {
  const std::array<Share, 2> shares{Share{0, 1e12}, Share{3'000, 0.5}};
  SharedBuffer buffer(10'000, shares);
  fill(buffer, 0, 1, 100);
  EXPECT_EQ(buffer.used_bytes(0), 7'000U) << "the reserved part is nobody else's";
  fill(buffer, 1, 1, 100);
  EXPECT_EQ(buffer.used_bytes(1), 3'000U);
  EXPECT_EQ(buffer.used_bytes(), buffer.total_bytes());
  buffer.release(0, 600);
  EXPECT_EQ(buffer.admits(1, 300), BufferVerdict::kAdmit) << "300 shared of 600 free, at alpha 1/2";
  EXPECT_EQ(buffer.admits(1, 301), BufferVerdict::kOverShare);
  EXPECT_EQ(buffer.admits(1, 601), BufferVerdict::kFull);
}

TEST(SharedBuffer, AFrameMayLieInBothParts) {
  const std::array<Share, 1> shares{Share{1'000, 1}};
  SharedBuffer buffer(2'000, shares);
  buffer.charge(0, 900);
  EXPECT_EQ(buffer.shared_free_bytes(), 1'000U);
  buffer.charge(0, 300);
  EXPECT_EQ(buffer.shared_free_bytes(), 800U) << "100 reserved, 200 shared";
  buffer.release(0, 250);
  EXPECT_EQ(buffer.shared_free_bytes(), 1'000U);
  EXPECT_EQ(buffer.used_bytes(0), 950U);
}

/// Adds everything up at every question.
struct Model {
  std::uint64_t total;
  std::vector<Share> shares;
  std::vector<std::uint64_t> used;

  [[nodiscard]] std::uint64_t beyond(std::size_t q, std::uint64_t bytes) const {
    return bytes > shares[q].reserved_bytes ? bytes - shares[q].reserved_bytes : 0;
  }
  [[nodiscard]] std::uint64_t shared_free() const {
    std::uint64_t free = total;
    for (std::size_t q = 0; q < used.size(); ++q)
      free -= shares[q].reserved_bytes + beyond(q, used[q]);
    return free;
  }
  [[nodiscard]] BufferVerdict admits(std::size_t q, std::uint32_t bytes) const {
    const std::uint64_t after = beyond(q, used[q] + bytes);
    if (after == 0) return BufferVerdict::kAdmit;
    if (after - beyond(q, used[q]) > shared_free()) return BufferVerdict::kFull;
    return static_cast<double>(after) > shares[q].alpha * static_cast<double>(shared_free())
               ? BufferVerdict::kOverShare
               : BufferVerdict::kAdmit;
  }
};

TEST(SharedBuffer, AgreesWithAModelThatAddsEverythingUp) {
  std::array<std::uint64_t, 3> verdicts{};
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    RandomStream random(seed, 0, RandomPurpose::kTest);
    Model model{.total = 40'000, .shares = {}, .used = std::vector<std::uint64_t>(6)};
    constexpr std::array<double, 4> kAlphas{0.25, 1, 4, 1e9};
    for (int q = 0; q < 6; ++q)
      model.shares.push_back({random.next_u32() % 4'000, kAlphas[random.next_u32() % 4]});
    SharedBuffer buffer(model.total, model.shares);
    for (int step = 0; step < 20'000; ++step) {
      const std::size_t q = random.next_u32() % 6;
      const std::uint32_t bytes = 60 + random.next_u32() % 1455;
      if (random.next_u32() % 16 < (step / 1000 % 2 == 0 ? 11U : 6U)) {
        const BufferVerdict verdict = buffer.admits(q, bytes);
        ASSERT_EQ(verdict, model.admits(q, bytes)) << "seed " << seed << " step " << step;
        ++verdicts[static_cast<std::size_t>(verdict)];
        if (verdict != BufferVerdict::kAdmit) continue;
        buffer.charge(q, bytes);
        model.used[q] += bytes;
      } else if (model.used[q] > 0) {
        const auto leaves =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, model.used[q]));
        buffer.release(q, leaves);
        model.used[q] -= leaves;
      }
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < 6; ++i) {
        ASSERT_EQ(buffer.used_bytes(i), model.used[i]);
        sum += model.used[i];
      }
      ASSERT_EQ(buffer.used_bytes(), sum);
      ASSERT_LE(sum, buffer.total_bytes());
      ASSERT_EQ(buffer.shared_free_bytes(), model.shared_free());
    }
  }
  for (const auto n : verdicts) EXPECT_GT(n, 1'000U) << "every verdict was reached";
}

}  // namespace
}  // namespace outrider::shared_buffer_test
