// Goal: bridges in a row learn across each other, ports that share a device are
// distinguished by their stations, and the network's ledger counts copies.
#include <gtest/gtest.h>

#include <numeric>

#include "common/core/random.h"
#include "switch/runtime/network.h"
#include "tests/support/frames.h"
#include "tests/support/pool.h"

namespace outrider::bridged_network_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;

/// west (d0) - left = right - east and south, which share d1.
SwitchProcessConfig bridges() {
  SwitchProcessConfig c;
  c.devices = {{.name = "d0", .device = "net_null0"}, {.name = "d1", .device = "net_null1"}};
  const auto port = [](const std::string& name, std::optional<std::string> device) {
    SwitchPortConfig p;
    p.name = name;
    p.drain_rate = BitRate{1'000'000'000};
    p.queue.limit_packets = 6;
    p.marker.kind = MarkerKind::kTailDrop;
    p.device = std::move(device);
    return p;
  };
  SwitchConfig left, right;
  left.name = "left";
  left.ports = {port("west", "d0"), port("trunk", {})};
  left.l2.learning = true;
  right.name = "right";
  right.ports = {port("trunk", {}), port("east", "d1"), port("south", "d1")};
  right.routes = {{"10.0.3.0/24", "east"}, {"10.0.4.0/24", "south"}};
  right.l2.learning = true;
  c.switches = {left, right};
  c.links = {{"left.trunk", "right.trunk", 20us}};
  return c;
}

struct Network {
  Network() : net(bridges(), loop) {
    net.connect(0, west, 0);
    net.connect(1, east, 0);
    net.connect(2, south, 0);
  }
  ~Network() { net.flush(); }
  void send(std::uint32_t device, const char* from, const char* to, Time now) {
    loop.run_until(now);
    net.receive_from_device(device, make_packet(pool.get(), {.flow = {ip(from), ip(to), 1, 2}}),
                            now);
    loop.run_until(now + 1ms);
  }
  TestPool pool;
  EventLoop loop;
  Collector west, east, south;
  SwitchNetwork net;
};

TEST(BridgedNetwork, SharedDevicesAreToldApartByTheirStations) {
  ASSERT_TRUE(validate(bridges()).empty());
  Network n;
  n.send(0, "10.0.1.1", "10.0.4.1", Time{0ms});
  EXPECT_EQ(n.east.size() + n.south.size(), 2U) << "unknown at both";
  n.send(1, "10.0.4.1", "10.0.1.1", Time{10ms});  // by the route from the south
  EXPECT_EQ(n.west.size(), 1U);
  EXPECT_EQ(n.east.size(), 1U) << "10.0.1.1 was learned on the way out";
  n.send(0, "10.0.1.1", "10.0.4.1", Time{20ms});
  EXPECT_EQ(n.south.size(), 2U);
  EXPECT_EQ(n.east.size(), 1U) << "10.0.4.1 was learned in the south";
  n.send(1, "10.0.3.1", "10.0.4.1", Time{30ms});
  EXPECT_EQ(n.south.size(), 3U) << "from one port of the device to the other";
  EXPECT_TRUE(n.net.report(Time{1s}).ledger_balanced);
}

TEST(BridgedNetwork, CountsCopies) {
  std::uint64_t copied = 0, dropped = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Network n;
    RandomStream random(seed, 0, RandomPurpose::kTest);
    Time now{};
    std::uint64_t sent = 0;
    for (int i = 0; i < 2'000; ++i) {
      now += Duration{random.next_u32() % (i / 200 % 2 == 0 ? 2'000 : 40'000)};
      n.loop.run_until(now);
      const bool from_west = random.next_u32() % 2 == 0;
      FrameSpec spec{.payload_bytes = static_cast<std::uint16_t>(random.next_u32() % 1400)};
      spec.flow.source_address = (from_west ? 0x0A000100 : 0x0A000300) + random.next_u32() % 40;
      spec.flow.destination_address =
          (from_west ? 0x0A000300 : 0x0A000100) + random.next_u32() % 60;
      n.net.receive_from_device(from_west ? 0 : 1, make_packet(n.pool.get(), spec), now);
      ++sent;
      if (i % 7 != 0) continue;
      const SwitchReport r = n.net.report(now);
      ASSERT_TRUE(r.ledger_balanced) << "seed " << seed << " step " << i;
      ASSERT_EQ(n.pool.in_use(), n.net.resident());
    }
    n.loop.run_until(now + 10ms);
    const SwitchReport r = n.net.report(now + 10ms);
    EXPECT_TRUE(r.ledger_balanced);
    std::uint64_t lost = 0;
    for (const auto& by_class : r.drops.values)
      lost = std::accumulate(by_class.begin(), by_class.end(), lost);
    EXPECT_EQ(sent + r.copied, n.west.size() + n.east.size() + n.south.size() + lost);
    copied += r.copied;
    dropped += lost;
  }
  EXPECT_GT(copied, 100U);
  EXPECT_GT(dropped, 100U);
}

}  // namespace
}  // namespace outrider::bridged_network_test
