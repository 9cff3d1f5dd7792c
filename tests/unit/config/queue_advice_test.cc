// Goal: a limit in bytes that nothing ever reaches is told, with what makes it one.
#include "switch/config/queue_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "switch/config/config_toml.h"

namespace outrider::queue_advice_test {
using namespace sw;
namespace {

TEST(QueueAdvice, TellsWhichLimitIsReachedFirst) {
  QueueConfig queue;
  queue.limit_packets = 60;
  EXPECT_TRUE(advice(queue).empty()) << "no limit in bytes";
  queue.limit_bytes = 60 * kFullFrameBytes;
  EXPECT_TRUE(advice(queue).empty());
  queue.limit_bytes = 1'000'000;
  ASSERT_EQ(advice(queue).size(), 1U);
  EXPECT_EQ(advice(queue)[0].key, "limit_bytes");
  EXPECT_THAT(advice(queue)[0].problem, testing::HasSubstr("Set limit_packets to 661 or more"));

  SwitchProcessConfig process;
  process.switches.resize(1);
  process.switches[0].ports.resize(2);
  for (auto& port : process.switches[0].ports) port.queue = queue;
  const ConfigIssues found = advice(process);
  ASSERT_EQ(found.size(), 1U) << "once for all ports";
  EXPECT_EQ(found[0].key, "switch[0].queue.limit_bytes");
}

}  // namespace
}  // namespace outrider::queue_advice_test
