// Goal: what a benchmark says of a switch is what the switch was configured to do.
// Method: switches in virtual time whose throughput, bursts and marks follow from arithmetic.
#include "trafficgen/streams/benchmark/benchmark.h"

#include <gtest/gtest.h>

#include "tests/support/pool.h"
#include "tools/lab/run/run_benchmark.h"
#include "tools/lab/simulation/virtual_trials.h"
#include "trafficgen/streams/search/rate_search_loop.h"

namespace outrider::benchmark_test {
using namespace lab;
using namespace tg;
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kRate = 1'000'000'000;

sw::SwitchPortConfig port(const char* name, std::uint64_t rate) {
  sw::SwitchPortConfig p;
  p.name = name;
  p.device = name;
  p.drain_rate = {rate};
  p.queue.limit_packets = 4100;
  p.marker.kind = sw::MarkerKind::kTailDrop;
  return p;
}

/// A switch with one way in and one out, and a stream through it.
BenchmarkOrder order_of(BenchmarkKind kind, std::uint64_t out_rate = kRate) {
  BenchmarkOrder order;
  order.switches.devices = {{.name = "left", .device = "net_null0"},
                            {.name = "right", .device = "net_null1"}};
  sw::SwitchConfig& dut = order.switches.switches.emplace_back();
  dut.name = "dut";
  dut.ports = {port("left", kRate), port("right", out_rate)};
  dut.routes = {{"10.0.0.0/16", "left"}, {"10.1.0.0/16", "right"}};
  for (const auto& d : order.switches.devices)
    order.traffic.devices.push_back(
        {.name = d.name, .device = d.device, .line_rate = BitRate{kRate}});
  StreamConfig& s = order.traffic.streams.emplace_back();
  s.name = "probe";
  s.device = "left";
  s.receive_device = "right";
  s.rate = StreamRate{StreamRate::Unit::kShare, 1'000'000};
  s.frame_bytes = 1024;
  s.source = "10.0.0.1";
  s.destination = "10.1.0.1";
  order.traffic.benchmark.kind = kind;
  return for_virtual_time(order);
}

BenchmarkResult measured(const BenchmarkOrder& order) {
  EXPECT_TRUE(mismatches(order).empty());
  TestPool pool(VirtualTrials::buffers_for(order.switches, order.traffic), kHeaderRoomBytes);
  VirtualTrials trials(order.switches, order.traffic, pool.get(), {});
  return run_benchmark(order.traffic, trials, [](const std::string&) {});
}

double figure(const BenchmarkResult& result, std::string_view name, std::size_t point = 0) {
  return mean_of(result.points.at(point).values(name));
}

TEST(Benchmark, ThroughputIsThatOfTheSlowerLink) {
  BenchmarkOrder order = order_of(BenchmarkKind::kThroughput, kRate / 4);
  order.switches.switches[0].ports[1].queue.limit_packets = 1;
  order.traffic.benchmark.frame_bytes = {64, 1518};
  order.traffic.benchmark.width = 0.001;
  const BenchmarkResult result = measured(order);
  EXPECT_TRUE(result.finished);
  ASSERT_EQ(result.points.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_NEAR(figure(result, "throughput_share", i), 0.25, 0.002) << i;
}

// One search, two ways to ask for it.
TEST(Benchmark, ThroughputIsWhatNdrFinds) {
  BenchmarkOrder order = order_of(BenchmarkKind::kThroughput, kRate / 3);
  order.switches.switches[0].ports[1].queue.limit_packets = 1;
  TestPool pool(VirtualTrials::buffers_for(order.switches, order.traffic), kHeaderRoomBytes);
  VirtualTrials trials(order.switches, order.traffic, pool.get(), {});
  RateSearch ndr(RateSearch::Config{});
  std::uint32_t number = 0;
  const BenchmarkConfig& b = order.traffic.benchmark;
  ASSERT_TRUE(run_rate_search(ndr, {.trial = b.trial, .warm_up = b.warm_up}, order.traffic, trials,
                              number, [](const std::string&) {}));
  EXPECT_EQ(figure(measured(order), "throughput_share"), ndr.found());
}

TEST(Benchmark, ABurstThatPassesFillsTheQueueAndNoMore) {
  BenchmarkOrder order = order_of(BenchmarkKind::kBackToBack, kRate / 2);
  order.switches.switches[0].ports[1].queue.limit_packets = 100;
  order.traffic.benchmark.max_packets = 1000;
  // While n packets come, half of them leave: all but 100 of the rest.
  const double found = figure(measured(order), "burst_packets");
  EXPECT_NEAR(found, 200, 3);
  EXPECT_EQ(figure(measured(order), "burst_bytes"), found * 1024);
}

TEST(Benchmark, LatencyIsTheTimeOnTheWires) {
  BenchmarkOrder order = order_of(BenchmarkKind::kLatency);
  order.traffic.benchmark.shares = {0.5};
  order.switches.switches[0].ports[1].delay = 10us;
  const BenchmarkResult result = measured(order);
  const double wire = 1044 * 8 / 1e9 + 10e-6;  // with preamble, gap and FCS
  EXPECT_NEAR(figure(result, "latency_seconds_max"), wire, 0.3e-6);
  EXPECT_TRUE(result.points[0].latency_ns.has_value());
}

TEST(Benchmark, LossByRateIsWhatDoesNotFit) {
  BenchmarkOrder order = order_of(BenchmarkKind::kLossRate, kRate / 2);
  order.switches.switches[0].ports[1].queue.limit_packets = 1;
  order.traffic.benchmark.shares = {1, 0.4};
  const BenchmarkResult result = measured(order);
  EXPECT_NEAR(figure(result, "loss_share", 0), 0.5, 0.01);
  EXPECT_EQ(figure(result, "loss_share", 1), 0);
}

/// A port that marks between 500 and 2,000 packets and obeys pauses of priority 3.
BenchmarkOrder marking(sw::MarkAt at, EcnMarkPoint expected) {
  BenchmarkOrder order = order_of(BenchmarkKind::kEcnMarking);
  sw::SwitchPortConfig& out = order.switches.switches[0].ports[1];
  out.marker.kind = sw::MarkerKind::kRed;
  out.marker.at = at;
  out.marker.red = {.kmin_packets = 500, .kmax_packets = 2000, .pmax = 0.05, .weight = 1};
  sw::LosslessConfig lossless;
  lossless.priority = 3;
  lossless.xoff_bytes = 40'000;
  lossless.headroom_bytes = 40'000;
  out.queue.lossless = lossless;
  order.traffic.benchmark.repeats = 40;
  order.traffic.benchmark.ecn.mark_at = expected;
  return order;
}

TEST(Benchmark, MarksFollowTheLawAtEnqueueAndAtDequeue) {
  for (const auto& [at, expected] : {std::pair{sw::MarkAt::kEnqueue, EcnMarkPoint::kEnqueue},
                                     {sw::MarkAt::kDequeue, EcnMarkPoint::kDequeue}}) {
    const BenchmarkResult result = measured(marking(at, expected));
    EXPECT_EQ(figure(result, "repetitions"), 40);
    EXPECT_GT(figure(result, "chi_square_p_value"), 0.001);
    EXPECT_EQ(figure(result, "marked_below_kmin") + figure(result, "unmarked_above_kmax"), 0);
  }
}

TEST(Benchmark, AQueueThatMarksAtTheOtherEndDoesNotPass) {
  const BenchmarkResult result = measured(marking(sw::MarkAt::kDequeue, EcnMarkPoint::kEnqueue));
  EXPECT_LT(figure(result, "chi_square_p_value"), 1e-6);
  EXPECT_GT(figure(result, "unmarked_above_kmax"), 0);
}

TEST(Benchmark, ASwitchThatIgnoresPausesIsFoundOut) {
  BenchmarkOrder order = marking(sw::MarkAt::kEnqueue, EcnMarkPoint::kEnqueue);
  order.switches.switches[0].ports[1].queue.lossless = {};
  order.traffic.benchmark.repeats = 1;
  const BenchmarkResult result = measured(order);
  EXPECT_EQ(figure(result, "repetitions"), 0);
  EXPECT_TRUE(std::isnan(figure(result, "chi_square")));
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_NE(result.notes[0].find("did not obey the pause of priority 3"), std::string::npos);
}

TEST(Benchmark, ResultsSurviveTheirFile) {
  BenchmarkOrder order = order_of(BenchmarkKind::kLatency);
  order.traffic.benchmark.shares = {0.5};
  const BenchmarkResult made = measured(order);
  const BenchmarkResult read = benchmark_result_from_json(to_json(made));
  EXPECT_EQ(to_json(read), to_json(made));
  EXPECT_EQ(read.points.at(0).at, made.points.at(0).at);
  EXPECT_THROW(benchmark_result_from_json("{}"), std::runtime_error);
}

}  // namespace
}  // namespace outrider::benchmark_test
