#include "common/runtime/link.h"

#include <gtest/gtest.h>

#include "common/core/random.h"
#include "tests/support/frames.h"
#include "tests/support/pool.h"

namespace outrider::link_test {
namespace {

using namespace std::chrono_literals;

TEST(Link, DeliversInOrderAfterItsDelay) {
  TestPool pool;
  EventLoop loop;
  Collector end;
  Link link(loop, 100ns, end, 7);
  link.push(make_packet(pool.get(), {.sequence = 1}), Time{0ns});
  link.push(make_packet(pool.get(), {.sequence = 2}), Time{30ns});
  link.push(make_packet(pool.get(), {.sequence = 3}), Time{30ns});
  EXPECT_EQ(link.resident(), 3U);
  loop.run_until(Time{99ns});
  EXPECT_EQ(end.size(), 0U);
  loop.run_until(Time{129ns});
  EXPECT_EQ(end.size(), 1U) << "delay counts from what the transmitter says, not from the push";
  loop.run_until(Time{130ns});
  ASSERT_EQ(end.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(end.arrivals[i].sequence, i + 1);
    EXPECT_EQ(end.arrivals[i].at, Time{i == 0 ? 100ns : 130ns});
    EXPECT_EQ(end.arrivals[i].port, 7U);
  }
  EXPECT_EQ(link.resident(), 0U);
}

// A node that sends everything back into the same wire a few times.
class Echo final : public Node {
 public:
  void receive(std::uint32_t, Packet* packet, Time now) noexcept override {
    ++received;
    if (received > 10) release(packet);
    else link->push(packet, now);
  }
  Link* link = nullptr;
  int received = 0;
};

TEST(Link, MayBePushedFromWithinADelivery) {
  for (const Duration delay : {Duration{0ns}, Duration{10ns}}) {
    TestPool pool;
    EventLoop loop;
    Echo echo;
    Link link(loop, delay, echo, 0);
    echo.link = &link;
    link.push(make_packet(pool.get(), {}), Time{5ns});
    loop.run_until(Time{1us});
    EXPECT_EQ(echo.received, 11);
    EXPECT_EQ(link.resident(), 0U);
  }
}

TEST(Link, ConservesPacketsAndKeepsTheirOrder) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    TestPool pool;
    EventLoop loop;
    Collector end;
    RandomStream random(seed, 0, RandomPurpose::kTest);
    std::uint32_t pushed = 0;
    std::uint64_t most = 0, emptied = 0;
    {
      Link link(loop, 200ns, end, 0);
      std::vector<Time> due;
      Time now{};
      for (int step = 0; step < 5'000; ++step) {
        now += Duration{random.next_u32() % (step / 200 % 2 == 0 ? 20 : 400)};
        loop.run_until(now);
        if (random.next_u32() % 3 != 0) {
          link.push(make_packet(pool.get(), {.sequence = pushed++}), now);
          due.push_back(now + 200ns);
        }
        ASSERT_EQ(link.pushed(), pushed);
        ASSERT_EQ(link.delivered(), end.size());
        ASSERT_EQ(link.pushed(), link.delivered() + link.resident());
        ASSERT_EQ(pool.in_use(), link.resident()) << "nobody else holds a packet";
        most = std::max(most, link.resident());
        emptied += link.resident() == 0;
      }
      for (std::size_t i = 0; i < end.size(); ++i) {
        ASSERT_EQ(end.arrivals[i].sequence, i);
        ASSERT_EQ(end.arrivals[i].at, due[i]);
      }
      while (link.resident() == 0) link.push(make_packet(pool.get(), {}), now);
      const std::uint64_t in_flight = link.resident();
      EXPECT_EQ(link.flush(), in_flight);
      EXPECT_EQ(pool.in_use(), 0U);
      EXPECT_EQ(link.resident(), in_flight) << "flushed packets stay counted as resident";
    }
    EXPECT_GT(most, 5U);
    EXPECT_GT(emptied, 100U);
  }
}

TEST(Link, ReleasesWhatIsInFlightWhenItGoes) {
  TestPool pool;
  EventLoop loop;
  Collector end;
  {
    Link link(loop, 1ms, end, 0);
    link.push(make_packet(pool.get(), {}), Time{});
    link.push(make_packet(pool.get(), {}), Time{});
  }
  EXPECT_EQ(pool.in_use(), 0U);
}

}  // namespace
}  // namespace outrider::link_test
