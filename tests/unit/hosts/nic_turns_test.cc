// Goal: connections take turns at a NIC in the order in which they asked, whether they wait in the
// queue or alone beside it. Method: a model with random requests.
#include "trafficgen/hosts/nic_turns.h"

#include <gtest/gtest.h>

#include <deque>

#include "common/core/random.h"

namespace outrider::nic_turns_test {
using namespace tg;
namespace {

TEST(NicTurns, ServeInTheOrderOfRequests) {
  for (const std::uint32_t tso_bytes : {0U, 65'536U}) {
    NicTurns turns(tso_bytes);
    std::deque<std::uint32_t> model;
    RandomStream random(1, tso_bytes, RandomPurpose::kTest);
    std::uint64_t alone = 0;
    for (std::uint32_t i = 0; i < 20'000; ++i) {
      if (random.next_u32() % 2 == 0) {
        // Endpoints of datagrams ask the queue itself.
        if (random.next_u32() % 4 == 0) turns.queue().push(0, i);
        else turns.push(0, i);
        model.push_back(i);
        alone += model.size() == 1;
      } else if (!model.empty()) {
        ASSERT_FALSE(turns.empty());
        ASSERT_EQ(turns.take(Time{}), model.front());
        model.pop_front();
      }
      ASSERT_EQ(turns.empty(), model.empty());
    }
    EXPECT_GT(alone, 50U);
  }
}

TEST(NicTurns, SeveralClassesAreServedByTheQueueAlone) {
  NicTurns turns(0);
  const std::uint8_t bands[]{1, 0};
  turns.queue().make_classes(bands, BitRate{1});
  turns.push(0, 10);
  turns.push(1, 11);
  EXPECT_EQ(turns.take(Time{}), 11U) << "the lower band";
  EXPECT_EQ(turns.take(Time{}), 10U);
}

}  // namespace
}  // namespace outrider::nic_turns_test
