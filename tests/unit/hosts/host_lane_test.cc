// Goal: packets between two lanes keep their order, wait, stop the senders, or are dropped and
// counted; and two lanes that share a device do what one does. Method: the lanes take turns in one
// thread, at literal instants, on a net_ring device, which receives what it transmits.
#include "trafficgen/apps/host_lane.h"

#include <gtest/gtest.h>

#include <array>

#include "common/dpdk/packet/mempool.h"
#include "tests/support/frames.h"
#include "tests/support/pool.h"
#include "trafficgen/apps/host_program.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::host_lane_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

/// Returns the number of packets that the other lane took; `next` counts their sequence numbers.
std::uint32_t take_in_order(LaneHandover& from, std::uint32_t& next) {
  std::uint32_t taken = 0;
  from.take([&](std::uint32_t device, Packet* packet) {
    EXPECT_EQ(device, 7U);
    EXPECT_EQ(meta(*packet).sequence, next++);
    ++taken;
    release(packet);
  });
  return taken;
}

TEST(LaneHandover, KeepsOrderHoldsAndDropsWhenTheOtherLaneStandsStill) {
  TestPool pool(4095);
  std::uint32_t put = 0, taken = 0;
  {
    LaneHandover handover("lane_handover_test");
    const auto send = [&](std::uint32_t packets) {
      for (; packets != 0; --packets) {
        Packet* packet = make_packet(pool.get(), {});
        ASSERT_NE(packet, nullptr);
        meta(*packet).sequence = put++;
        handover.receive(7, packet, {});
      }
    };
    send(100);
    EXPECT_EQ(take_in_order(handover, taken), 0U) << "nothing without flush()";
    handover.flush();
    EXPECT_FALSE(handover.backpressure().full);
    EXPECT_EQ(take_in_order(handover, taken), 64U);
    send(kHandoverPackets - 30);
    handover.flush();
    EXPECT_TRUE(handover.backpressure().full) << "6 packets are held";
    EXPECT_EQ(handover.resident(), kHandoverPackets + 6);
    while (take_in_order(handover, taken) != 0) handover.flush();
    EXPECT_EQ(taken, put);
    EXPECT_FALSE(handover.backpressure().full);

    send(kHandoverPackets);
    handover.flush();
    send(kHandoverPackets + 3);
    EXPECT_EQ(handover.dropped(), 3U);
    EXPECT_EQ(put, taken + handover.resident() + handover.dropped());
  }
  EXPECT_EQ(pool.in_use(), 0U) << "what nobody took is freed";
}

/// Two pairs of hosts behind one device. Of each, one sends two long flows.
GeneratorConfig two_pairs(const std::string& ring) {
  GeneratorConfig c;
  c.duration = 1s;
  c.send_jitter = 0;
  c.devices = {{.name = "d", .device = ring}};
  c.transports = {{"tcp", {}}};
  for (const std::string pair : {"0", "1"}) {
    for (const std::string end : {"1", "2"})
      c.hosts.push_back({.name = "h" + pair + end,
                         .address = "10.0." + pair + "." + end,
                         .device = "d",
                         .rate = {1'000'000'000}});
    c.long_flows.push_back({.name = "bulk" + pair,
                            .from = {"h" + pair + "1"},
                            .to = {"h" + pair + "2"},
                            .flows_per_pair = 2,
                            .transport = "tcp"});
  }
  return c;
}

/// Runs 20 ms in polls of 10 us each, in which the lanes take turns.
GeneratorReport run(std::uint32_t lcores, const std::string& ring) {
  GeneratorConfig config = two_pairs(ring);
  if (lcores == 2) config.more_lcores = {1};
  EXPECT_TRUE(validate(config).empty()) << format_issues("config", validate(config));
  const Mempool send = make_packet_pool({.name = "s_" + ring, .mbufs = required_mbufs(config)});
  const Mempool received = make_packet_pool({.name = "r_" + ring, .mbufs = ring_mbufs(config)});
  GeneratorReport report;
  {
    PollDevices devices({{.name = "d", .device = ring}}, *received);
    devices.check_links();
    const HostLanes lanes = make_host_lanes(config, {.full_payload = true}, *send, devices);
    for (const auto& lane : lanes) {
      lane->generator().start(Time{});
      lane->devices().hold_when_full();
    }
    Time previous{};
    for (Time now{10us}; now <= Time{20ms}; previous = now, now += 10us)
      for (const auto& lane : lanes) {
        lane->begin_poll({.previous = previous, .now = now});
        lane->devices().receive(previous, now, lane->loop(), *lane);
        lane->loop().run_until(now);
        lane->devices().flush();
      }
    for (const auto& lane : lanes) lane->finish(previous);
    std::vector<const Generator*> parts;
    for (const auto& lane : lanes) parts.push_back(&lane->generator());
    report = Generator::report(parts, previous);
    for (const auto& lane : lanes) lane->add_to(report);
    std::array<Packet*, kBatchPackets> left;  // net_ring keeps them
    while (const std::uint16_t n = devices.receive_batch(0, 0, left))
      for (std::uint16_t i = 0; i < n; ++i) release(left[i]);
  }
  EXPECT_EQ(rte_mempool_in_use_count(send.get()) + rte_mempool_in_use_count(received.get()), 0U);
  return report;
}

TEST(HostLane, TwoThatShareADeviceDoWhatOneDoes) {
  const GeneratorReport one = run(1, "net_ring_l1");
  const GeneratorReport two = run(2, "net_ring_l2");
  ASSERT_EQ(two.flows.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_GT(one.flows[i].delivered_bytes, 500'000U) << one.flows[i].name;
    EXPECT_NEAR(static_cast<double>(two.flows[i].delivered_bytes),
                static_cast<double>(one.flows[i].delivered_bytes),
                0.1 * static_cast<double>(one.flows[i].delivered_bytes))
        << two.flows[i].name;
  }
  EXPECT_TRUE(two.ledger_balanced);
  EXPECT_EQ(sum(two.drops), 0U);
  EXPECT_EQ(two.tcp_events.retransmitted, 0U) << "no flow loses its order";
}

}  // namespace
}  // namespace outrider::host_lane_test
