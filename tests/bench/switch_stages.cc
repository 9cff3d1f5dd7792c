// What the ingress half of a switch costs a packet: parse, forward, classify, in TSC
// cycles. A batch of 32 frames is written into buffers, as a device would, and then
// handed in with its tables prefetched; the median batch counts, because other
// processes interrupt some. Nothing is queued.
#include <benchmark/benchmark.h>
#include <rte_cycles.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "common/dpdk/packet/mempool.h"
#include "switch/runtime/switch.h"
#include "tests/support/frames.h"
#include "tests/support/ipv6_frames.h"
#include "tests/support/test_eal.h"

namespace outrider {
namespace {

rte_mempool* packets = nullptr;

constexpr std::size_t kBatch = 32;

sw::SwitchConfig two_ports() {
  sw::SwitchConfig c;
  c.name = "sw";
  for (const char* name : {"a", "b", "c", "d"}) {
    sw::SwitchPortConfig port;
    port.name = name;
    port.queues.assign(8, {});
    c.ports.push_back(port);
  }
  c.routes = {{"10.0.1.0/24", "a"}, {"10.0.3.0/24", "b"}, {"0.0.0.0/0", "c"}};
  return c;
}

std::vector<std::uint8_t> frame(std::uint32_t n) {
  return bytes_of({.flow = {0x0A000100 + n, 0x0A000300 + n % 256,
                            static_cast<std::uint16_t>(1000 + n % 1000), 5000},
                   .ttl = 255});
}

/// A switch that is handed the same frames again and again.
class Stage {
 public:
  /// @param frames a multiple of a batch
  Stage(const sw::SwitchConfig& config, std::vector<std::vector<std::uint8_t>> frames)
      : switch_(config, loop_, {}), frames_(std::move(frames)) {
    for (std::size_t i = 0; i < kBatch; ++i) batch_.push_back(packet_of(*packets, frames_[i]));
  }
  ~Stage() {
    for (Packet* p : batch_) release(p);
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// Each frame once. @param cycles gets those of each batch
  void round(Time now, std::vector<std::uint64_t>& cycles) {
    for (std::size_t first = 0; first < frames_.size(); first += kBatch) {
      for (std::size_t i = 0; i < kBatch; ++i)
        std::ranges::copy(frames_[first + i], buffer(*batch_[i]).begin());
      const std::uint64_t begin = rte_rdtsc();
      hand_in(now);
      cycles.push_back(rte_rdtsc() - begin);
    }
  }
  [[nodiscard]] std::uint64_t handed() const noexcept { return handed_; }

 private:
  void hand_in(Time now) noexcept {
    sw::SwitchLane& lane = switch_.lane(0);
    for (Packet* packet : batch_) sw::prefetch_stations(lane, *packet);
    for (std::uint32_t i = 0; i < kBatch; ++i)
      switch_.ingress(lane, i & 1, batch_[i], now, [&](std::uint16_t, Packet*) { ++handed_; });
  }

  EventLoop loop_;
  sw::Switch switch_;
  std::vector<std::vector<std::uint8_t>> frames_;
  std::vector<Packet*> batch_;
  std::uint64_t handed_ = 0;
};

void measure(benchmark::State& state, Stage& stage) {
  std::vector<std::uint64_t> cycles;
  Time now{};
  stage.round(now, cycles);  // tables come into the cache, stations are learned
  stage.round(now, cycles);
  cycles.clear();
  const std::uint64_t before = stage.handed();
  for (auto _ : state) stage.round(now += std::chrono::microseconds(10), cycles);
  if (stage.handed() - before != cycles.size() * kBatch)
    state.SkipWithError("not every packet was handed on once");
  const auto middle = cycles.begin() + static_cast<std::ptrdiff_t>(cycles.size() / 2);
  std::ranges::nth_element(cycles, middle);
  state.counters["cycles_per_packet"] = static_cast<double>(*middle) / kBatch;
}

std::vector<std::vector<std::uint8_t>> frames_of(std::uint32_t n) {
  std::vector<std::vector<std::uint8_t>> frames;
  for (std::uint32_t i = 0; i < n; ++i) frames.push_back(frame(i));
  return frames;
}

void routed_core(benchmark::State& state) {
  Stage stage(two_ports(), frames_of(256));
  measure(state, stage);
}
BENCHMARK(routed_core);

void routed_lpm(benchmark::State& state) {
  auto config = two_ports();
  config.route_table = sw::RouteTableKind::kLpm;
  Stage stage(config, frames_of(256));
  measure(state, stage);
}
BENCHMARK(routed_lpm);

void routed_equal_cost(benchmark::State& state) {
  auto config = two_ports();
  config.routes[1] = {.prefix = "10.0.3.0/24", .ports = {"b", "c", "d"}};
  Stage stage(config, frames_of(256));
  measure(state, stage);
}
BENCHMARK(routed_equal_cost);

void routed_ipv6(benchmark::State& state) {
  auto config = two_ports();
  config.routes.push_back({"2001:db8:3::/64", "b"});
  Stage stage(config, std::vector(256, ipv6_bytes_of({.hop_limit = 255})));
  measure(state, stage);
}
BENCHMARK(routed_ipv6);

void routed_with_dscp_map(benchmark::State& state) {
  auto config = two_ports();
  config.classes.dscp["46"] = ConfigValue(std::int64_t{1});
  Stage stage(config, frames_of(256));
  measure(state, stage);
}
BENCHMARK(routed_with_dscp_map);

void routed_with_rules(benchmark::State& state) {
  auto config = two_ports();
  for (std::int64_t i = 0; i < state.range(0); ++i)
    config.rules.push_back(
        {.source = "10.2." + std::to_string(i / 250) + "." + std::to_string(i % 250) + "/32",
         .protocol = std::uint8_t{6},
         .queue = 1U});
  Stage stage(config, frames_of(256));
  measure(state, stage);
}
BENCHMARK(routed_with_rules)->ArgName("rules")->Arg(1)->Arg(1000);

void static_stations(benchmark::State& state) {
  auto config = two_ports();
  for (int i = 0; i < 256; ++i) {
    constexpr const char* kHex = "0123456789abcdef";
    config.mac_routes.push_back(
        {std::string("02:00:0a:00:03:") + kHex[i / 16] + kHex[i % 16], "b"});
  }
  Stage stage(config, frames_of(256));
  measure(state, stage);
}
BENCHMARK(static_stations);

/// Pairs of stations that are known to the bridge: each packet looks two up.
void bridged(benchmark::State& state) {
  auto config = two_ports();
  config.l2.learning = true;
  const auto stations = static_cast<std::uint32_t>(state.range(0));  // a multiple of 32
  std::vector<std::vector<std::uint8_t>> frames;
  for (std::uint32_t i = 0; i < stations; i += 2) {
    // Stations of even number are behind port a, their peers behind b; ports by turns.
    const FlowKey there{0x0A000000 + i, 0x0A000001 + i, 1000, 5000};
    frames.push_back(bytes_of({.flow = there}));
    frames.push_back(bytes_of({.flow = there.reversed()}));
  }
  Stage stage(config, std::move(frames));
  measure(state, stage);
}
BENCHMARK(bridged)->ArgName("stations")->Arg(256)->Arg(100'000);

}  // namespace
}  // namespace outrider

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const outrider::TestEal eal;
  const auto pool = outrider::make_packet_pool(
      {.name = "bench", .mbufs = 1023, .frame_room_bytes = outrider::kHeaderRoomBytes});
  outrider::packets = pool.get();
  benchmark::RunSpecifiedBenchmarks();
}
