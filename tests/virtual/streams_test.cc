// Goal: streams in virtual time are those of real time: for the same seed, the same packets
// at the same instants go through a real switch and are counted exactly.
// Method: the batched sender is compared with the event loop's source, byte by byte. A
// switch that drains more slowly than the stream sends is compared with arithmetic.
#include <gtest/gtest.h>

#include "tests/support/frames.h"
#include "tests/support/pool.h"
#include "tests/unit/streams/stream_fixture.h"
#include "tools/lab/simulation/simulation.h"

namespace outrider::streams_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using namespace std::chrono_literals;
using Frame = std::vector<std::uint8_t>;
using Unit = StreamRate::Unit;

/// Returns a frame's head without its departure time, the only part that may differ.
Frame identity_of(Frame frame) {
  frame.resize(60);
  std::fill(frame.begin() + 54, frame.end(), std::uint8_t{0});
  frame[40] = frame[41] = 0;  // the checksum covers it
  return frame;
}

TEST(VirtualStreams, SendTheSamePacketsAsTheBatchedPath) {
  for (const auto pattern :
       {StreamPattern::kConstant, StreamPattern::kPoisson, StreamPattern::kOnOff}) {
    TestPool pool(8192, kHeaderRoomBytes);
    StreamConfig s = stream();
    s.pattern = pattern;
    s.burst_packets = pattern == StreamPattern::kOnOff ? 20 : 1;
    s.gap = pattern == StreamPattern::kOnOff ? Duration{50us} : Duration{};
    s.imix = SizeMix{{{64, 3}, {100, 1}}};
    s.flows = 7;
    s.packets = 2000;
    s.udp_checksum = UdpChecksum::kFull;
    const std::vector<StreamDevice> devices{{"d"}};

    FakeDevice device;
    struct Devices {
      const FakeDevice& device;
      const FakeDevice& port(std::size_t) const { return device; }
    };
    StreamEngine batched({.streams = {s}, .devices = devices, .seed = 9}, pool.get());
    for (Time now{}; !batched.done(now); now += 10us) batched.send(Devices{device}, {now, 77});
    batched.finish();

    EventLoop loop;
    VirtualStreams streams({s}, devices, 9, std::nullopt, loop, pool.get());
    Collector collector;
    Link link(loop, 0ns, collector, 0);
    streams.connect(0, link);
    streams.start();
    loop.run_until(Time{1s});

    ASSERT_EQ(collector.size(), 2000U);
    ASSERT_EQ(device.frames.size(), 2000U);
    StreamSchedule schedule({.stream = s, .seed = 9});
    for (std::size_t i = 0; i < 2000; ++i) {
      const Departure d = schedule.take();
      EXPECT_EQ(collector.arrivals[i].at, d.due);
      EXPECT_EQ(collector.arrivals[i].frame_bytes, schedule.sizes()[d.size] - 4);
      ASSERT_EQ(identity_of(collector.arrivals[i].bytes), identity_of(device.frames[i])) << i;
    }
  }
}

/// Returns a switch with two ports, of which the right one drains at 100 Mbit/s.
SwitchProcessConfig one_switch(std::uint32_t limit_packets) {
  SwitchPortConfig left;
  left.name = "left";
  left.device = "left";
  SwitchPortConfig right;
  right.name = "right";
  right.device = "right";
  left.drain_rate = {10'000'000'000};
  right.drain_rate = {100'000'000};
  right.queue.limit_packets = limit_packets;
  right.marker.threshold_packets = limit_packets / 2;
  right.delay = 10us;
  SwitchProcessConfig config;
  config.devices = {{.name = "left", .device = "net_null0"},
                    {.name = "right", .device = "net_null1"}};
  SwitchConfig& sw = config.switches.emplace_back();
  sw.name = "s";
  sw.ports = {left, right};
  sw.routes = {{"10.0.0.0/16", "left"}, {"10.1.0.0/16", "right"}};
  return config;
}

GeneratorConfig one_stream(StreamConfig s) {
  GeneratorConfig traffic;
  traffic.devices = {{.name = "left", .device = "net_null0"},
                     {.name = "right", .device = "net_null1"}};
  s.device = "left";
  s.receive_device = "right";
  traffic.streams = {std::move(s)};
  traffic.duration = 100ms;
  return traffic;
}

TEST(VirtualStreams, LosesAtABottleneckWhatArithmeticSays) {
  TestPool pool(8192, kHeaderRoomBytes);
  StreamConfig s = stream();
  s.rate = StreamRate{Unit::kBits, 200'000'000};
  s.frame_bytes = 1250 - 20;  // 100 us at 100 Mbit/s
  s.flows = 3;
  s.ecn = Ecn::kEct0;
  Simulation simulation(one_switch(50), one_stream(s), pool.get());
  simulation.run_until(Time{200ms});
  const RunResult result = simulation.result();
  const StreamReport& r = result.traffic.streams.streams.at(0);
  EXPECT_TRUE(balanced(result.traffic.streams));
  EXPECT_EQ(r.sent, 2000U) << "one every 50 us for 100 ms";
  // The link carries one packet every 100 us from the first arrival on, and the queue is full
  // at the end: 1000 packets during the sending time and 50 waiting, except at the edges.
  EXPECT_NEAR(static_cast<double>(r.distinct), 1050, 3);
  EXPECT_EQ(r.lost, r.sent - r.distinct);
  EXPECT_GT(r.ce_marked, 900U);
  EXPECT_EQ(r.reordered + r.duplicated + r.beyond_window, 0U);
  EXPECT_NEAR(static_cast<double>(r.latency_ns.max()), 50 * 100e3 + 100e3 + 10e3, 150e3);
  EXPECT_EQ(r.latency_ns.count(), r.distinct);
}

TEST(VirtualStreams, NeedAPortWithoutHosts) {
  TestPool pool(8192, kHeaderRoomBytes);
  GeneratorConfig traffic = one_stream(stream());
  traffic.hosts = {{.name = "h", .address = "10.0.0.9", .device = "left"},
                   {.name = "g", .address = "10.1.0.9", .device = "right"}};
  EXPECT_THROW(Simulation(one_switch(50), traffic, pool.get()), std::runtime_error);
}

}  // namespace
}  // namespace outrider::streams_test
