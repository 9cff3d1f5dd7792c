// Goal: what devices deliver reaches the sink in order of time, and what leaves
// is accounted for. Method: net_ring devices, which receive what they transmit,
// and literal poll instants: no clock.
#include "common/runtime/poll_devices.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "common/dpdk/eal/error.h"
#include "common/dpdk/packet/mempool.h"
#include "common/runtime/poll_loop.h"
#include "common/runtime/poll_program.h"
#include "common/telemetry/log.h"
#include "switch/report/with_devices.h"
#include "switch/runtime/poll_loop.h"
#include "trafficgen/apps/host_program.h"

namespace outrider::poll_devices_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;

TEST(ArrivalTime, SpreadsABatchOverThePollAndEndsNow) {
  EXPECT_EQ(arrival_time(Time{100ns}, Time{200ns}, 0, 1), Time{200ns});
  EXPECT_EQ(arrival_time(Time{100ns}, Time{200ns}, 0, 4), Time{125ns});
  EXPECT_EQ(arrival_time(Time{100ns}, Time{200ns}, 3, 4), Time{200ns});
  EXPECT_EQ(arrival_time(Time{100ns}, Time{100ns}, 7, 32), Time{100ns});
  const Time hours{std::chrono::hours{24 * 365}};
  EXPECT_EQ(arrival_time(hours, hours + 32us, 0, 32), hours + 1us);
}

TEST(ReceiveFilter, MakesADeviceReceiveForTheHostsBehindIt) {
  struct Row {
    bool is_virtual, promiscuous;
    std::size_t addresses, room;
    ReceiveFilter filter;
    const char* why;
  };
  for (const Row& row : {
           Row{false, true, 4, 0, ReceiveFilter::kPromiscuous, "a NIC as usual"},
           Row{true, true, 0, 0, ReceiveFilter::kPromiscuous, "some virtual devices have the mode"},
           Row{true, false, 4, 0, ReceiveFilter::kUnfiltered, "others do not filter"},
           Row{false, false, 4, 4, ReceiveFilter::kAddresses, "one address for each host"},
           Row{false, false, 5, 4, ReceiveFilter::kOwnOnly, "one host would hear nothing"},
           Row{false, false, 0, 4, ReceiveFilter::kOwnOnly, "a switch does not know them"},
       })
    EXPECT_EQ(receive_filter(row.is_virtual, row.promiscuous, row.addresses, row.room), row.filter)
        << row.why;
}

// vmxnet3 fills two rings a queue. With fewer buffers the rings take all, and nothing is received.
TEST(ReceivePool, OutlastsTheRingsOfEveryDevice) {
  tg::GeneratorConfig config;
  for (int devices = 1; devices <= 8; ++devices) {
    config.devices.push_back({.name = "d", .device = "net_null0"});
    std::uint32_t rings = 0;
    for (const auto& d : config.devices) rings += 2U * d.rx_descriptors + kBatchPackets;
    EXPECT_GE(tg::ring_mbufs(config), rings + 256) << devices << ", and the pool's cache";
  }
}

TEST(AdvanceTo, CatchesUpInStepsAfterAGap) {
  EXPECT_EQ(advance_to(Time{1ms}, Time{1ms}), Time{1ms});
  EXPECT_EQ(advance_to(Time{1ms}, Time{1ms + 3us}), Time{1ms + 3us}) << "the usual poll";
  EXPECT_EQ(advance_to(Time{0us}, Time{20us}), Time{20us});
  EXPECT_EQ(advance_to(Time{0us}, Time{1ms}), Time{20us}) << "a step, then the devices again";
  EXPECT_EQ(advance_to(Time{0us}, Time{64ms}), Time{1ms}) << "a long gap in longer steps";
  Time at{};
  int steps = 0;
  for (; at < Time{25ms}; ++steps) at = advance_to(at, Time{25ms});
  EXPECT_EQ(at, Time{25ms}) << "it does catch up";
  EXPECT_GT(steps, 100);
  EXPECT_LT(steps, 300);
}

struct Arrival {
  std::uint32_t device;
  Time at;
  Time loop_at;  ///< last event before it
  std::uint32_t first_word;
};

struct RecordingSink {
  const Time& loop_at;
  std::vector<Arrival> arrivals{};
  void receive_from_device(std::uint32_t device, Packet* packet, Time at) noexcept {
    arrivals.push_back({device, at, loop_at, header_at<std::uint32_t>(*packet, 0)});
    release(packet);
  }
};

/// Fires every 10 ns and remembers when.
struct Ticker final : EventSource {
  Time last{};
  Time fire(Time now) noexcept override {
    last = now;
    return now + 10ns;
  }
};

class PollDevicesTest : public testing::Test {
 protected:
  /// net_ring keeps its rings, and what is in them, for the next test.
  void TearDown() override {
    std::size_t before = 0;
    do {
      before = sink_.arrivals.size();
      lane_.receive(Time{}, Time{1us}, loop_, sink_);
    } while (sink_.arrivals.size() != before);
  }
  Packet* packet(std::uint32_t frame_bytes = 60) {
    Packet* made = rte_pktmbuf_alloc(pool_.get());
    rte_pktmbuf_append(made, static_cast<std::uint16_t>(frame_bytes));
    meta(*made).frame_bytes = frame_bytes;
    meta(*made).traffic_class = TrafficClass::kDdl;
    return made;
  }
  void send(std::size_t device, int packets) {
    for (int i = 0; i < packets; ++i) devices_.edge(device).receive(0, packet(), Time{});
  }

  Mempool pool_ = make_packet_pool({.name = "ring", .mbufs = 4095});
  PollDevices devices_{{{.name = "a", .device = "net_ring0"}, {.name = "b", .device = "net_ring1"}},
                       *pool_};
  DeviceLane lane_{devices_};
  EventLoop loop_;
  Ticker ticker_;
  RecordingSink sink_{ticker_.last};
};

TEST_F(PollDevicesTest, MergesDevicesByTimeAndRunsTheLoopUpToEachArrival) {
  loop_.schedule(loop_.add(ticker_), Time{10ns});
  send(0, 2);
  send(1, 4);
  lane_.flush();
  lane_.receive(Time{}, Time{100ns}, loop_, sink_);
  const std::vector<std::pair<std::uint32_t, Time>> expected{{1, Time{25ns}},  {0, Time{50ns}},
                                                             {1, Time{50ns}},  {1, Time{75ns}},
                                                             {0, Time{100ns}}, {1, Time{100ns}}};
  ASSERT_EQ(sink_.arrivals.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(sink_.arrivals[i].device, expected[i].first) << i;
    EXPECT_EQ(sink_.arrivals[i].at, expected[i].second) << i;
    EXPECT_LT(sink_.arrivals[i].at - sink_.arrivals[i].loop_at, 10ns) << "the loop lags at " << i;
  }
}

TEST_F(PollDevicesTest, TakesABatchAPollAndLeavesTheRest) {
  send(0, 40);
  lane_.flush();
  lane_.receive(Time{}, Time{1us}, loop_, sink_);
  EXPECT_EQ(sink_.arrivals.size(), 32U);
  lane_.receive(Time{1us}, Time{2us}, loop_, sink_);
  EXPECT_EQ(sink_.arrivals.size(), 40U);
}

TEST_F(PollDevicesTest, SendsAFullBatchAtOnceAndTheRestAtTheFlush) {
  send(0, 33);
  EXPECT_EQ(devices_.edge(0).transmitted(), 32U);
  EXPECT_EQ(devices_.edge(0).resident(), 1U);
  lane_.flush();
  EXPECT_EQ(devices_.edge(0).transmitted(), 33U);
  EXPECT_EQ(devices_.edge(0).resident(), 0U);
}

TEST_F(PollDevicesTest, CountsByClassWhatTheRingDoesNotTake) {
  constexpr int kSent = 2000;  // the ring holds 1023
  send(0, kSent);
  lane_.flush();
  const DeviceEdge& edge = devices_.edge(0);
  EXPECT_GT(edge.dropped()[TrafficClass::kDdl], 0U);
  EXPECT_EQ(edge.transmitted() + edge.dropped()[TrafficClass::kDdl], std::uint64_t{kSent});
  EXPECT_EQ(devices_.tx_dropped()[TrafficClass::kDdl], edge.dropped()[TrafficClass::kDdl]);
  EXPECT_EQ(rte_mempool_in_use_count(pool_.get()), edge.transmitted()) << "dropped, not leaked";
  while (sink_.arrivals.size() < edge.transmitted()) lane_.receive(Time{}, Time{1us}, loop_, sink_);
  EXPECT_EQ(rte_mempool_in_use_count(pool_.get()), 0U);
}

TEST_F(PollDevicesTest, HoldsInOrderWhatTheRingDoesNotTakeAndTellsTheSenders) {
  constexpr std::uint32_t kSent = 2000;  // the ring holds 1023
  EXPECT_TRUE(devices_.check_links());
  lane_.hold_when_full();
  DeviceEdge& edge = devices_.edge(0);
  for (std::uint32_t i = 0; i < kSent; ++i) {
    Packet* made = packet();
    std::memcpy(rte_pktmbuf_mtod(made, void*), &i, sizeof i);
    edge.receive(0, made, Time{});
  }
  lane_.flush();
  EXPECT_TRUE(edge.backpressure().full);
  EXPECT_EQ(edge.transmitted() + edge.resident(), kSent);
  EXPECT_EQ(edge.dropped()[TrafficClass::kDdl], 0U);
  for (int polls = 0; sink_.arrivals.size() < kSent && polls < 1000; ++polls) {
    lane_.receive(Time{}, Time{1us}, loop_, sink_);
    lane_.flush();
  }
  ASSERT_EQ(sink_.arrivals.size(), kSent);
  for (std::uint32_t i = 0; i < kSent; ++i) ASSERT_EQ(sink_.arrivals[i].first_word, i);
  EXPECT_FALSE(edge.backpressure().full);
  EXPECT_EQ(edge.resident(), 0U);
}

TEST_F(PollDevicesTest, DropsWhatItHeldOnceTheLinkIsGone) {
  DeviceEdge& edge = devices_.edge(0);
  edge.hold(true);
  send(0, 2000);
  const std::uint64_t held = edge.resident();
  ASSERT_GT(held, 32U) << "more than a batch waits";
  edge.hold(false);
  lane_.flush();
  EXPECT_EQ(edge.resident(), 0U);
  EXPECT_EQ(edge.dropped()[TrafficClass::kDdl], held);
  EXPECT_FALSE(edge.backpressure().full);
}

// The log has a lock and a reader that may be slow: an lcore leaves it to a control thread.
TEST_F(PollDevicesTest, PublishesALinkThatChangesAndLogsNothingItself) {
  const std::uint64_t lines = log_lines();
  EXPECT_TRUE(devices_.check_links());
  rte_eth_dev_set_link_down(devices_.port(1).id());
  EXPECT_FALSE(devices_.check_links());
  EXPECT_EQ(log_lines(), lines);
  EXPECT_TRUE(devices_.up(0));
  EXPECT_FALSE(devices_.up(1));
  EXPECT_EQ(devices_.down(), "b");
  rte_eth_dev_set_link_up(devices_.port(1).id());
  EXPECT_TRUE(devices_.check_links());
}

TEST_F(PollDevicesTest, CountsWhatCannotBeOneSegment) {
  Packet* first = packet(1500);
  Packet* more = packet(1500);
  ASSERT_EQ(rte_pktmbuf_chain(first, more), 0);
  meta(*first).frame_bytes = 3000;
  devices_.edge(1).receive(0, first, Time{});
  lane_.flush();
  lane_.receive(Time{}, Time{1us}, loop_, sink_);
  EXPECT_TRUE(sink_.arrivals.empty());
  EXPECT_EQ(lane_.malformed(), 1U);
  EXPECT_EQ(rte_mempool_in_use_count(pool_.get()), 0U);
}

TEST(Port, NamesAnUnknownDriver) {
  const Mempool pool = make_packet_pool({.name = "unknown", .mbufs = 63});
  EXPECT_THROW(Port({.name = "x", .device = "net_nonsense0"}, *pool), EnvironmentError);
}

TEST(Port, CanBeOpenedAgain) {
  const Mempool pool = make_packet_pool({.name = "again", .mbufs = 4095});
  for (int i = 0; i < 3; ++i) {
    const Port port({.name = "x", .device = "net_null0"}, *pool);
    EXPECT_TRUE(port.link_up());
  }
}

TEST(PortLosses, CountPacketsThatWereTakenAndNotSentOnly) {
  EXPECT_EQ(failed_after_taking(10'619, 10'107, 512), 512U) << "net_af_packet: took and failed";
  EXPECT_EQ(failed_after_taking(100, 100, 40), 0U) << "net_tap, net_vhost: refused";
  EXPECT_EQ(failed_after_taking(100, 90, 0), 0U) << "a NIC still holds ten";
  EXPECT_EQ(failed_after_taking(100, 90, 4), 4U) << "and has failed to send four";
  EXPECT_EQ(failed_after_taking(100, 103, 4), 0U) << "a NIC counts its PAUSE frames too";
}

TEST(CountedLosses, AreThoseOfTheDriver) {
  EXPECT_EQ(counted_losses("net_tap"), (CountedLosses{false, true, true}));
  EXPECT_EQ(counted_losses("net_ring"), (CountedLosses{true, true, true}));
  EXPECT_EQ(counted_losses("net_of_tomorrow"), CountedLosses{}) << "nothing is known of it";
  EXPECT_EQ(counter_if(false, 0), std::nullopt) << "not counted is not 0";
  EXPECT_EQ(counter_if(true, 0), 0U);
  EXPECT_EQ(counter_if(false, 3), 3U) << "what has counted something counts";
}

TEST(DeviceLosses, ASumIsAbsentIfItMightHideALoss) {
  const PortLosses counts{.rx_missed = 0, .rx_nombuf = 0, .rx_errors = 0};
  const PortLosses lost{.rx_missed = 4, .rx_nombuf = 0, .rx_errors = 0};
  const PortLosses blind{.rx_missed = std::nullopt, .rx_nombuf = 0, .rx_errors = 0};
  const auto sum_of = [](const std::vector<PortLosses>& all) {
    DeviceLosses sum;
    for (std::size_t i = 0; i < all.size(); ++i) sum.add(std::string(1, "abc"[i]), all[i]);
    return sum;
  };
  EXPECT_EQ(sum_of({counts, counts}).rx_missed, 0U);
  EXPECT_EQ(sum_of({counts, lost}).rx_missed, 4U);
  for (const auto& all : {std::vector{counts, blind}, std::vector{blind, counts}})
    EXPECT_EQ(sum_of(all).rx_missed, std::nullopt);
  for (const auto& all : {std::vector{lost, blind}, std::vector{blind, lost}})
    EXPECT_EQ(sum_of(all).rx_missed, 4U) << "which is not all";
  EXPECT_EQ(sum_of({lost, blind, blind}).not_counting, (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(sum_of({counts, blind}).rx_nombuf, 0U) << "each counter by itself";
}

TEST(SwitchWithDevices, KeepsTheLedgerClosed) {
  SwitchReport report;
  report.received = 10;
  report.transmitted = 7;
  report.resident = 3;
  PerClass<std::uint64_t> dropped;
  dropped[TrafficClass::kDdl] = 2;
  const SwitchReport r = with_devices(report, dropped, 1,
                                      {.rx_missed = 5,
                                       .rx_nombuf = std::nullopt,
                                       .rx_errors = 7,
                                       .tx_failed = 3,
                                       .not_counting = {"a"}},
                                      {.longest_gap = 9us, .busy = 8us});
  EXPECT_EQ(r.received, 11U);
  EXPECT_EQ(r.transmitted, 2U) << "neither what was not taken nor what was not sent";
  const auto& ddl = r.drops[TrafficClass::kDdl];
  const auto& background = r.drops[TrafficClass::kBackground];
  EXPECT_EQ(ddl[DropReason::kDeviceTxFull], 2U);
  EXPECT_EQ(background[DropReason::kMalformed], 1U);
  EXPECT_EQ(background[DropReason::kDeviceTxError], 3U);
  EXPECT_EQ(r.received, r.transmitted + 2 + 1 + 3 + r.resident);
  EXPECT_EQ(r.device_rx_missed, 5U);
  EXPECT_EQ(r.device_rx_nombuf, std::nullopt);
  EXPECT_EQ(r.device_rx_errors, 7U);
  EXPECT_EQ(device_losses_text(r),
            "receive missed 5, no buffer not counted, damaged 7; not all is counted at a");
  EXPECT_EQ(r.longest_poll_gap_ns, 9000);
  EXPECT_EQ(r.busy_ns, 8000);
}

TEST(SplitArguments, TakesEalArgumentsBeforeTheDashes) {
  const char* with[] = {"p", "-l", "1", "--", "--config", "f"};
  const SplitArguments split = split_arguments(6, with);
  EXPECT_EQ(split.eal, (std::vector<std::string>{"-l", "1"}));
  EXPECT_EQ(split.own, (std::vector<std::string>{"--config", "f"}));
  const char* without[] = {"p", "--config", "f"};
  EXPECT_EQ(split_arguments(3, without).own, (std::vector<std::string>{"--config", "f"}));
  EXPECT_EQ(eal_words({"-l", "1"}, " -m  64 "), (std::vector<std::string>{"-l", "1", "-m", "64"}));
}

}  // namespace
}  // namespace outrider::poll_devices_test
