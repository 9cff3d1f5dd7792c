// Goal: flows are told apart in bounded memory, and a number never means two of them.
#include "tools/hostagent/flow_numbers.h"

#include <gtest/gtest.h>

namespace outrider::flow_numbers_test {
namespace {

using namespace agent;

AgentFlowKey flow(std::uint16_t port) {
  return {
      .source_address = 1, .destination_address = 2, .source_port = port, .destination_port = 4};
}

/// @return the number; -1 - n if the flow of number n was forgotten for it
int ask(FlowNumbers& numbers, std::uint16_t port) {
  const auto [number, forgotten] = numbers.number_of(flow(port));
  if (!forgotten) return static_cast<int>(number);
  EXPECT_EQ(number + 1, numbers.given());
  return -1 - static_cast<int>(*forgotten);
}

TEST(FlowNumbers, CountInOrderOfAppearance) {
  FlowNumbers numbers(3);
  EXPECT_EQ(ask(numbers, 70), 0);
  EXPECT_EQ(ask(numbers, 50), 1);
  EXPECT_EQ(ask(numbers, 70), 0);
  AgentFlowKey reverse = flow(70);
  std::swap(reverse.source_address, reverse.destination_address);
  EXPECT_EQ(numbers.number_of(reverse).number, 2U) << "each direction is a flow";
  ASSERT_TRUE(numbers.key(1));
  EXPECT_EQ(numbers.key(1)->source_port, 50);
  EXPECT_FALSE(numbers.key(3));
}

TEST(FlowNumbers, ForgetTheFlowThatWasAskedForLongestAgo) {
  FlowNumbers numbers(2);
  EXPECT_EQ(ask(numbers, 70), 0);
  EXPECT_EQ(ask(numbers, 71), 1);
  EXPECT_EQ(ask(numbers, 70), 0);
  EXPECT_EQ(ask(numbers, 72), -1 - 1) << "71 is forgotten, 70 was asked for since";
  EXPECT_FALSE(numbers.key(1));
  EXPECT_EQ(numbers.key(2)->source_port, 72);
  EXPECT_EQ(ask(numbers, 71), -1 - 0) << "comes back as another";
  EXPECT_EQ(numbers.given(), 4U);
  EXPECT_EQ(ask(numbers, 71), 3);
}

}  // namespace
}  // namespace outrider::flow_numbers_test
