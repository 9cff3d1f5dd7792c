// Goal: switches with loops of their own are driven by these, and a wire is in the loop of its far
// end. Method: one packet across two switches, whose loops run in turn.
#include <gtest/gtest.h>

#include "switch/runtime/network.h"
#include "tests/support/dumbbell.h"
#include "tests/support/frames.h"
#include "tests/support/pool.h"

namespace outrider::network_loops_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;

/// Returns the edge port at which a switch has a host.
std::uint32_t edge_of(const SwitchNetwork& net, std::uint32_t of_switch) {
  for (std::uint32_t e = 0; e < net.edges().size(); ++e)
    if (net.edges()[e].switch_index == of_switch) return e;
  throw std::runtime_error("the switch has no edge port");
}

TEST(NetworkLoops, AWireIsInTheLoopOfItsFarEnd) {
  const Dumbbell d;
  const auto traffic = d.traffic();
  TestPool pool;
  EventLoop own, left, right, behind;
  Collector end;
  SwitchNetwork net(d.switches(), own, {.loops = {&left, &right}});
  for (std::uint32_t e = 0; e < net.edges().size(); ++e) net.connect(e, end, e, &behind);
  const auto to = std::ranges::find(traffic.hosts, "s0", &tg::HostConfig::name);
  const FrameSpec spec{
      .flow = {ip(traffic.hosts.front().address.c_str()), ip(to->address.c_str()), 1, 2}};
  net.ingress(edge_of(net, 0)).push(make_packet(pool.get(), spec), Time{});
  ASSERT_NE(left.next(), kNever) << "into the left switch";
  EXPECT_EQ(right.next(), kNever);
  left.run_until(Time{1s});
  ASSERT_NE(right.next(), kNever) << "over the trunk";
  EXPECT_EQ(behind.next(), kNever);
  right.run_until(Time{1s});
  ASSERT_NE(behind.next(), kNever) << "to the host";
  EXPECT_EQ(end.size(), 0U);
  behind.run_until(Time{1s});
  EXPECT_EQ(end.size(), 1U);
  EXPECT_EQ(own.next(), kNever);
  net.flush();
}

}  // namespace
}  // namespace outrider::network_loops_test
