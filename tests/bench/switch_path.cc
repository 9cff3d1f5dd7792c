// What a packet costs from one device's ring to another's: DirectSwitch on two devices of
// memory, 64 B frames, 1 % STARTs, half of the rest DDL data. The frames, rules and limits are
// those of tools/bench/switch. tools/check-instructions counts the instructions of the polls,
// so each arm has a fixed number of rounds and says how many packets these had.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/dpdk/packet/mempool.h"
#include "switch/runtime/direct_switch.h"
#include "tests/support/frames.h"
#include "tests/support/test_eal.h"

namespace outrider {
namespace {

using namespace std::chrono_literals;

rte_mempool* packets = nullptr;  // owned by main(): it must not outlive the EAL

constexpr std::uint32_t kFrames = 1000;      // of each direction
constexpr std::uint32_t kSignalEvery = 100;  // 1 % of them are STARTs
constexpr std::uint16_t kPayload = 6;        // bytes of a frame of 64
constexpr std::uint16_t kThreshold = 5;      // packets, as a START asks for
constexpr std::uint32_t kArmedFlows = 1000;  // bursts that are announced and do not come
constexpr std::uint16_t kArmedPort = 6000;   // their server's port
constexpr std::uint32_t kFollowed = 10'000;  // flows whose windows a switch may hold
constexpr std::uint32_t kRounds = 10;
constexpr auto kPollEvery = 2us;  // 64 packets in it are 32 million a second

/// [port they leave by]; each is received by the other port.
using Frames = std::array<std::vector<std::vector<std::uint8_t>>, 2>;

/// DPDK keeps the rings of a device that was closed, so each device needs a name of its own.
std::string new_device() {
  static std::uint32_t devices = 0;
  return "net_ring" + std::to_string(devices++);
}

sw::SwitchProcessConfig two_ports(RegulationMode mode) {
  sw::SwitchProcessConfig c;
  c.max_burst_records = 16;
  sw::SwitchConfig sw{.name = "sw", .ports = {}, .routes = {}, .mac_routes = {}};
  for (const char* n : {"1", "2"}) {
    const std::string name = std::string("p") + n;
    c.devices.push_back({.name = name, .device = new_device()});
    sw::SwitchPortConfig port{.name = name, .drain_rate = BitRate{400'000'000'000}, .device = name};
    port.queue.limit_packets = 1000;
    port.marker.threshold_packets = 65;
    port.regulation.mode = mode;
    port.regulation.max_entries = 2 * kArmedFlows;
    port.regulation.window.max_flows = kFollowed;
    port.regulation.budget_share = 1;
    port.regulation.expiry = 10s;  // longer than a run
    sw.ports.push_back(port);
    sw.routes.push_back({std::string("10.0.") + n + ".0/24", name});
  }
  sw.signals.accept_tos = true;
  sw.signals.accept_from = {"10.0.0.0/8"};
  sw.signals.tokens_per_second = 1'000'000;
  c.switches = {sw};
  return c;
}

FlowKey flow_towards(std::uint32_t port, std::uint32_t n, std::uint16_t server_port) {
  return {0x0A000000 + ((3 - port) << 8) + 1 + n % 200, 0x0A000000 + (port << 8) + 1 + n % 200,
          static_cast<std::uint16_t>(30'000 + n), server_port};
}

std::vector<std::uint8_t> start_of(const FlowKey& flow, std::uint32_t sequence) {
  return bytes_of(
      {.flow = flow, .tos = start_tos(kThreshold), .sequence = sequence, .tcp_flags = 0});
}

/// A frame of 64 B with FCS. @param sequence of its 6 bytes
std::vector<std::uint8_t> data_of(const FlowKey& flow, std::uint32_t sequence) {
  constexpr std::uint8_t kEct0 = 0x02;
  return bytes_of({.flow = flow,
                   .tos = kEct0,
                   .sequence = sequence,
                   .acknowledgment = 1,
                   .payload_bytes = kPayload});
}

/// Each round announces and sends the flows' next bytes.
Frames mixed_frames(std::uint32_t round) {
  Frames frames;
  const std::uint32_t sequence = round * kPayload;
  for (std::uint32_t n = 0; n < kFrames; ++n)
    for (std::uint32_t p = 0; p < 2; ++p) {
      const FlowKey burst = flow_towards(p + 1, n, 5000);
      const FlowKey background = flow_towards(p + 1, n, 20'000);
      frames[p].push_back(n % kSignalEvery == 0
                              ? start_of(burst, sequence)
                              : data_of(n % 2 == 0 ? burst : background, sequence));
    }
  return frames;
}

Frames armed_starts() {
  Frames frames;
  for (std::uint32_t n = 0; n < kArmedFlows; ++n)
    for (std::uint32_t p = 0; p < 2; ++p)
      frames[p].push_back(start_of(flow_towards(p + 1, n, kArmedPort), 0));
  return frames;
}

/// The handshakes of the flows to port 2.
Frames handshakes() {
  Frames frames;
  for (std::uint32_t n = 0; n < kFollowed; ++n) {
    const FlowKey flow = flow_towards(2, n, 20'000);
    frames[1].push_back(bytes_of({.flow = flow, .sequence = 0, .tcp_flags = kTcpSyn}));
    frames[0].push_back(bytes_of({.flow = flow.reversed(),
                                  .sequence = 0,
                                  .acknowledgment = 1,
                                  .tcp_flags = kTcpSyn | kTcpAck}));
  }
  return frames;
}

/// Background of many flows to port 2, and the ACKs for what they sent in the round before. The
/// data acknowledge the server's SYN again and again, as those of a bulk transfer do.
Frames followed_frames(std::uint32_t round) {
  Frames frames;
  for (std::uint32_t n = 0; n < kFollowed; ++n) {
    const FlowKey flow = flow_towards(2, n, 20'000);
    frames[1].push_back(data_of(flow, 1 + round * kPayload));
    frames[0].push_back(
        bytes_of({.flow = flow.reversed(), .sequence = 1, .acknowledgment = 1 + round * kPayload}));
  }
  return frames;
}

/// What tools/check-instructions counts. Not inline, so that callgrind finds it.
[[gnu::noinline]] void counted_poll(sw::SwitchWorker& worker, Time from, Time to) {
  worker.poll(from, to);
}

/// A switch that gets the same frames again and again.
class Path {
 public:
  explicit Path(const sw::SwitchProcessConfig& config)
      : devices_(ports(config), *packets),
        switch_(std::make_unique<sw::DirectSwitch>(config, devices_)) {}

  /// Passes each frame once, before anything is counted.
  void prepare(const Frames& frames) {
    pass(frames, [](sw::SwitchWorker& w, Time from, Time to) { w.poll(from, to); });
  }
  /// Passes each frame once.
  void round(const Frames& frames) {
    pass(frames, counted_poll);
    counted_ += frames[0].size() + frames[1].size();
  }
  [[nodiscard]] std::uint64_t arrived() const noexcept { return arrived_; }
  [[nodiscard]] std::uint64_t counted() const noexcept { return counted_; }
  [[nodiscard]] sw::SwitchReport report() const { return switch_->report(now_); }

 private:
  template <class Poll>
  void pass(const Frames& frames, Poll poll) {
    const std::size_t all = frames[0].size();
    for (std::size_t first = 0; first < all; first += kBatchPackets) {
      for (std::size_t i = first; i < std::min(first + kBatchPackets, all); ++i)
        for (std::uint32_t p = 0; p < 2; ++p) arrive(1 - p, frames[p][i]);
      poll(switch_->worker(0), now_, now_ + kPollEvery);
      now_ += kPollEvery;
      take_away();
    }
  }
  static std::vector<PortConfig> ports(const sw::SwitchProcessConfig& config) {
    std::vector<PortConfig> ports;
    for (const auto& d : config.devices) ports.push_back({.name = d.name, .device = d.device});
    return ports;
  }

  void arrive(std::uint32_t port, const std::vector<std::uint8_t>& frame) {
    Packet* packet = packet_of(*packets, frame);
    arrived_ += devices_.port(port).tx(&packet, 1);
  }
  /// What is left in a ring would come in again.
  void take_away() {
    std::array<Packet*, kBatchPackets> batch;
    for (std::uint32_t p = 0; p < 2; ++p)
      while (const auto n = devices_.receive_batch(p, 0, batch))
        for (std::uint16_t i = 0; i < n; ++i) release(batch[i]);
  }

  PollDevices devices_;
  std::unique_ptr<sw::DirectSwitch> switch_;
  Time now_{};
  std::uint64_t arrived_ = 0;
  std::uint64_t counted_ = 0;
};

/// @param frames  of a round, by its number
/// @param before  what arrives once, before the rounds
template <class FramesOf>
void measure(benchmark::State& state, RegulationMode mode, FramesOf frames,
             const std::vector<Frames>& before = {}) {
  Path path(two_ports(mode));
  for (const Frames& some : before) path.prepare(some);
  path.prepare(frames(0));  // the switch knows the flows
  std::vector<Frames> rounds;
  for (std::uint32_t i = 1; i <= kRounds; ++i) rounds.push_back(frames(i));
  auto next = rounds.begin();
  for (auto _ : state) path.round(*next++);
  const sw::SwitchReport report = path.report();
  std::uint64_t armed = 0, followed = 0;
  for (const auto& queue : report.queues) {
    armed += queue.starts_armed;
    followed += queue.window.flows_added;
  }
  state.counters["packets"] = static_cast<double>(path.counted());
  state.counters["starts_armed"] = static_cast<double>(armed);
  state.counters["flows_followed"] = static_cast<double>(followed);
  if (report.received != path.arrived()) state.SkipWithError("packets were lost on the way in");
}

void mixed(benchmark::State& state, RegulationMode mode) { measure(state, mode, mixed_frames); }
BENCHMARK_CAPTURE(mixed, off, RegulationMode::kOff)->Iterations(kRounds);
BENCHMARK_CAPTURE(mixed, mark, RegulationMode::kMark)->Iterations(kRounds);

void armed(benchmark::State& state, RegulationMode mode) {
  measure(state, mode, mixed_frames, {armed_starts()});
}
BENCHMARK_CAPTURE(armed, mark, RegulationMode::kMark)->Iterations(kRounds);

void followed(benchmark::State& state, RegulationMode mode) {
  measure(state, mode, followed_frames, {handshakes(), armed_starts()});
}
BENCHMARK_CAPTURE(followed, off, RegulationMode::kOff)->Iterations(kRounds);
BENCHMARK_CAPTURE(followed, window, RegulationMode::kWindow)->Iterations(kRounds);

}  // namespace
}  // namespace outrider

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const outrider::TestEal eal;
  const auto pool = outrider::make_packet_pool({.name = "bench", .mbufs = 4095});
  outrider::packets = pool.get();
  benchmark::RunSpecifiedBenchmarks();
}
