// Goal: the snapshot of a running switch equals its report. Method: traffic that fills, marks,
// regulates and drops. Snapshot and report are compared as JSON, which names every field.
#include "switch/report/snapshots.h"

#include <gtest/gtest.h>
#include <rte_mbuf.h>

#include <array>
#include <cstdio>

#include "common/dpdk/packet/mempool.h"
#include "switch/control/live.h"
#include "switch/report/process_state.h"
#include "switch/report/report_json.h"
#include "tests/unit/switch/switch_bench.h"

namespace outrider::snapshots_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using B = SwitchBench;

SwitchProcessConfig process_of(const SwitchConfig& sw) {
  SwitchProcessConfig c;
  c.switches = {sw};
  return c;
}

struct Watched {
  explicit Watched(const SwitchConfig& config = B::config())
      : bench(config), snapshots(process_of(config)) {}

  SwitchReport snapshot(Time now) {
    snapshots.loop(0).write({.at_ns = now.time_since_epoch().count()});
    bench.sw.publish(snapshots.cells(0), now);
    return snapshots.read();
  }
  SwitchReport report(Time now) const {
    SwitchReport r = bench.report(now);
    r.end_ns = now.time_since_epoch().count();
    return r;
  }

  B bench;
  SwitchSnapshots snapshots;
};

/// Makes a queue that is full, regulated and marks, and packets that never reach a queue.
void make_work(B& bench) {
  bench.send(B::start(1, 1000, 10), Time{1us});
  bench.fill(100, Time{2us}, "10.0.3.9", Ecn::kEct0);
  bench.fill(5, Time{3us}, "10.0.9.9");
  bench.send(B::data(1, 0), Time{4us});
}

TEST(SwitchSnapshots, SayWhatTheReportSaysFieldByField) {
  Watched w;
  make_work(w.bench);
  const SwitchReport r = w.report(Time{5us});
  EXPECT_EQ(to_json(w.snapshot(Time{5us})), to_json(r));
  // Check that the comparison is not one of zeros.
  const QueueReport& east = r.queues[B::kEast];
  EXPECT_TRUE(r.ledger_balanced);
  EXPECT_EQ(east.starts_armed, 1U);
  EXPECT_EQ(east.background_threshold_packets, 10U);
  EXPECT_EQ(east.initial_threshold_packets, 40U);
  EXPECT_GT(east.resident_bytes, 50'000U);
  EXPECT_GT(w.bench.marks(B::kEast, TrafficClass::kBackground, MarkReason::kRegulatedThreshold),
            0U);
  EXPECT_GT(w.bench.drops(TrafficClass::kBackground, DropReason::kTailPackets), 0U);
  EXPECT_EQ(w.bench.drops(TrafficClass::kBackground, DropReason::kNoRoute), 5U);
}

TEST(SwitchSnapshots, AreOfTheInstantOfTheirPublication) {
  Watched w;
  make_work(w.bench);
  const SwitchReport before = w.snapshot(Time{5us});
  w.bench.run();
  EXPECT_EQ(to_json(w.snapshots.read()), to_json(before)) << "nobody has published";
  const SwitchReport after = w.snapshot(Time{1s});
  EXPECT_EQ(to_json(after), to_json(w.report(Time{1s})));
  EXPECT_EQ(after.resident, 0U);
  EXPECT_EQ(after.queues[B::kEast].expired, 1U) << "nobody asked the regulator since";
  EXPECT_EQ(after.queues[B::kEast].background_threshold_packets, 40U);
}

TEST(SwitchSnapshots, CountHeldPacketsAndEveryQueueOfAPort) {
  auto config = B::config();
  auto& east = config.ports[B::kEast];
  east.regulation.mode = RegulationMode::kPace;
  east.queues = {{east.queue, east.marker, east.regulation}, {}};
  config.classes.background_queue = 0;
  Watched w(config);
  make_work(w.bench);
  const SwitchReport r = w.snapshot(Time{5us});
  EXPECT_EQ(to_json(r), to_json(w.report(Time{5us})));
  ASSERT_EQ(r.queues.size(), 4U);
  EXPECT_GT(r.queues[0].held_packets, 10U);
  EXPECT_GE(r.queues[0].resident[TrafficClass::kBackground], r.queues[0].held_packets);
  EXPECT_EQ(r.queues[1].queue, 1U);
}

TEST(SwitchSnapshots, CountWhatDevicesAndLoopsLost) {
  SwitchProcessConfig config = process_of(B::config());
  config.devices = {{.name = "nic", .device = "net_null0"}};
  SwitchSnapshots snapshots(config, 2);
  snapshots.loop(0).write(
      {.at_ns = 7, .malformed = 3, .links_up = 1, .longest_poll_gap_ns = 50, .busy_ns = 30});
  snapshots.loop(1).write({.at_ns = 9,
                           .malformed = 1,
                           .on_links = 2,
                           .between = 4,
                           .longest_poll_gap_ns = 20,
                           .busy_ns = 5});
  LaneCounts lane;
  lane.received = 100;
  lane.copied = 1;
  snapshots.cells(0).lanes[0].write(lane);
  lane.received = 10;
  lane.copied = 0;
  snapshots.cells(0).lanes[1].write(lane);
  QueueCounts queue;
  queue.arrived[TrafficClass::kDdl] = queue.transmitted[TrafficClass::kDdl] = 40;
  snapshots.cells(0).ports[0].queues[0].write(queue);
  snapshots.cells(0).ports[0].port.write({.in_service = 1});
  DeviceSnapshot device;
  device.tx_dropped[TrafficClass::kDdl] = 6;
  snapshots.device(0).write(device);

  const SwitchReport r = snapshots.read();
  EXPECT_EQ(r.end_ns, 9);
  EXPECT_EQ(r.received, 114U);
  EXPECT_EQ(r.transmitted, 34U);
  EXPECT_EQ(r.on_links, 3U);
  EXPECT_EQ(r.resident, 4U);
  EXPECT_EQ(r.longest_poll_gap_ns, 50);
  EXPECT_EQ(r.busy_ns, 35);
  EXPECT_EQ(r.drops[TrafficClass::kDdl][DropReason::kDeviceTxFull], 6U);
  EXPECT_TRUE(r.ledger_balanced);
  EXPECT_EQ(snapshots.read_devices().at(0).name, "nic");
  EXPECT_TRUE(snapshots.read_devices().at(0).up);

  queue.transmitted[TrafficClass::kDdl] = 39;
  snapshots.cells(0).ports[0].queues[0].write(queue);
  EXPECT_FALSE(snapshots.read().ledger_balanced);
}

TEST(SwitchLive, ShowsEachQueueThatAPacketCameTo) {
  Watched w;
  make_work(w.bench);
  const SwitchReport r = w.snapshot(Time{500ms});
  const auto lines = live_table({}, {r});
  ASSERT_GE(lines.size(), 3U);
  const std::string& row = lines.back();
  EXPECT_TRUE(row.starts_with("sw.east[0]")) << row;
  EXPECT_NE(row.find("40 tail_packets"), std::string::npos) << row;
  EXPECT_EQ(lines[lines.size() - 2].find("packets"), row.find("60") - 5) << "right-aligned\n"
                                                                         << row;
  const std::string& head = lines[lines.size() - 2];
  EXPECT_NE(head.find("sent [pps]"), std::string::npos) << head;
  EXPECT_NE(head.find("sent [bit/s]"), std::string::npos) << "no two columns of one name\n" << head;
  for (const auto& line : lines) EXPECT_EQ(line.find("west"), std::string::npos);

  const std::string text = live_lines({}, {r});
  EXPECT_TRUE(text.starts_with("0.5 s  received 214 pps")) << text;
  EXPECT_NE(text.find("\n  sw.east[0]  waiting 60  "), std::string::npos) << text;
  EXPECT_NE(text.find("  armed 1  "), std::string::npos) << text;
}

TEST(SwitchLive, ShowsTheShareOfALinkThatIsUsed) {
  for (const RateLayer layer : {RateLayer::kL1, RateLayer::kL2}) {
    SwitchConfig config = B::config();
    for (auto& port : config.ports) port.rate_layer = layer;
    Watched w(config);
    make_work(w.bench);
    w.bench.run();
    const SwitchReport r = w.snapshot(Time{10ms});
    const auto rates = w.snapshots.read_rates();
    ASSERT_GT(rates.at(B::kEast).rate.bits_per_second, 0U);
    const QueueReport& east = r.queues[B::kEast];
    ASSERT_GT(sum(east.transmitted), 0U);
    const std::uint64_t overhead = layer == RateLayer::kL1 ? 24 * sum(east.transmitted) : 0;
    const auto bits = 8 * static_cast<double>(sum(east.transmitted_bytes) + overhead);
    std::array<char, 64> share{};
    std::snprintf(share.data(), share.size(), "  link sw.east %.1f %%",
                  100 * bits / 0.01 / static_cast<double>(rates[B::kEast].rate.bits_per_second));
    const std::string text = live_lines({}, {r, rates});
    EXPECT_NE(text.find(share.data()), std::string::npos) << share.data() << '\n' << text;
    EXPECT_EQ(text.find("link sw.west"), std::string::npos) << "it never had a packet\n" << text;
  }
}

// Two lcores; the second device's link is up. Port r is behind the first device, port q behind the
// second, and port p has none.
TEST(ProcessState, IsOfEachLcoreOfEachPortWithADeviceAndOfEachPool) {
  SwitchProcessConfig config;
  config.lcore = 3;
  config.more_lcores = {7};
  config.devices = {{.name = "first", .device = "net_null0"},
                    {.name = "second", .device = "net_null1"}};
  SwitchConfig& sw = config.switches.emplace_back();
  sw.name = "s";
  for (const auto& [name, device] : {std::pair{"p", ""}, {"q", "second"}, {"r", "first"}}) {
    SwitchPortConfig& port = sw.ports.emplace_back();
    port.name = name;
    if (*device != 0) port.device = device;
  }
  SwitchSnapshots snapshots(config, 2);
  snapshots.loop(0).write({.links_up = 0b10, .busy_ns = 30});
  snapshots.loop(1).write({.busy_ns = 5});
  const Mempool pool = make_packet_pool({.name = "process_state", .mbufs = 100});
  rte_mbuf* taken = rte_pktmbuf_alloc(pool.get());
  ASSERT_NE(taken, nullptr);

  const ProcessState state = ProcessStateReader(config, snapshots, {pool.get()}).read();
  rte_pktmbuf_free(taken);
  ASSERT_EQ(state.lcores.size(), 2U);
  EXPECT_EQ(state.lcores[0].cpu, 3U);
  EXPECT_EQ(state.lcores[0].busy_ns, 30);
  EXPECT_EQ(state.lcores[1].cpu, 7U);
  EXPECT_EQ(state.lcores[1].busy_ns, 5);
  ASSERT_EQ(state.links.size(), 2U) << "a port without a device has no link";
  EXPECT_EQ(state.links[0].port_name, "q");
  EXPECT_EQ(state.links[0].device_name, "second");
  EXPECT_TRUE(state.links[0].up);
  EXPECT_EQ(state.links[1].port_name, "r");
  EXPECT_FALSE(state.links[1].up);
  ASSERT_EQ(state.pools.size(), 1U);
  EXPECT_EQ(state.pools[0].name, "process_state");
  EXPECT_EQ(state.pools[0].free_buffers + 1, state.pools[0].buffers);
}

}  // namespace
}  // namespace outrider::snapshots_test
