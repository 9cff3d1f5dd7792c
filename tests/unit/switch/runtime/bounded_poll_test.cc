// Goal: a poll of many busy ports takes SwitchWorker::kPollPackets packets, and every port has
// its turn. Method: rings that hold more than a poll takes. A packet's destination shows from
// which port it came.
#include <gtest/gtest.h>

#include <utility>

#include "common/dpdk/packet/mempool.h"
#include "switch/runtime/direct_switch.h"
#include "tests/support/frames.h"

namespace outrider::bounded_poll_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kSenders = 9;
constexpr std::uint32_t kTurn = SwitchWorker::kPollPackets / kBatchPackets;  // ports
constexpr std::uint32_t kEach = 3 * kBatchPackets;                           // packets
static_assert(kTurn < kSenders && kSenders < 2 * kTurn);

/// Ports 0 to 8 send; 10.0.9.0/24 is behind port 9, 10.0.10.0/24 behind port 10.
SwitchProcessConfig eleven_ports() {
  SwitchProcessConfig c;
  c.mbufs = 20'000;
  SwitchConfig& sw = c.switches.emplace_back();
  sw.name = "sw";
  for (std::uint32_t p = 0; p < kSenders + 2; ++p) {
    const std::string name = "p" + std::to_string(p);
    c.devices.push_back({.name = name, .device = "net_ring_b" + std::to_string(p)});
    sw.ports.push_back({.name = name, .drain_rate = BitRate{400'000'000'000}, .device = name});
  }
  sw.routes = {{.prefix = "10.0.9.0/24", .port = "p9"}, {.prefix = "10.0.10.0/24", .port = "p10"}};
  return c;
}

TEST(BoundedPoll, EveryPortHasItsTurn) {
  const Mempool pool = make_packet_pool({.name = "bounded", .mbufs = 4'095});
  const SwitchProcessConfig config = eleven_ports();
  std::vector<PortConfig> ports;
  for (const auto& d : config.devices) ports.push_back({.name = d.name, .device = d.device});
  {
    PollDevices devices(ports, *pool);
    DirectSwitch direct(config, devices);
    for (std::uint32_t p = 0; p < kSenders; ++p) {
      const std::uint32_t destination = p < kTurn ? 0x0A000901 : 0x0A000A01;
      for (std::uint32_t i = 0; i < kEach; ++i) {
        Packet* packet = packet_of(
            *pool, bytes_of({.flow = {0x0A000001, destination, 1'000, 80}, .payload_bytes = 10}));
        ASSERT_EQ(devices.port(p).tx(&packet, 1), 1U);
      }
    }
    Time now{};
    const auto arrived_after_poll = [&](std::size_t queue) {
      direct.worker(0).poll(now, now + 10us);
      now += 10us;
      const SwitchReport r = direct.report(now);
      EXPECT_TRUE(r.ledger_balanced);
      EXPECT_EQ(r.queues[9].arrived[TrafficClass::kBackground] +
                    r.queues[10].arrived[TrafficClass::kBackground],
                r.received);
      return std::pair{r.received, r.queues[queue].arrived[TrafficClass::kBackground]};
    };
    using Counts = std::pair<std::uint64_t, std::uint64_t>;
    constexpr std::uint64_t kPoll = SwitchWorker::kPollPackets;
    EXPECT_EQ(arrived_after_poll(10), (Counts{kPoll, 0})) << "the first ports";
    EXPECT_EQ(arrived_after_poll(10), (Counts{2 * kPoll, (kSenders - kTurn) * kBatchPackets}))
        << "then the others, and the first again";
    direct.flush();
    devices.flush();
    std::array<Packet*, kBatchPackets> batch;
    for (std::uint32_t p = 0; p < ports.size(); ++p)
      while (const auto n = devices.receive_batch(p, 0, batch))
        for (std::uint16_t i = 0; i < n; ++i) release(batch[i]);
  }
  EXPECT_EQ(rte_mempool_in_use_count(pool.get()), 0U);
}

}  // namespace
}  // namespace outrider::bounded_poll_test
