// Packets per second of the streams' transmit path into net_null: schedule, frame,
// numbers, stamps, hand-over. The ratio to dpdk-testpmd in the same minute is what
// to quote: tools/bench/trafficgen.
#include <benchmark/benchmark.h>
#include <rte_cycles.h>

#include "common/dpdk/eal/tsc_clock.h"
#include "common/dpdk/packet/mempool.h"
#include "common/runtime/poll_devices.h"
#include "tests/support/test_eal.h"
#include "trafficgen/streams/engine/stream_engine.h"

namespace outrider {
namespace {

PollDevices* devices = nullptr;  // owned by main(), as the pool: they must not outlive the EAL
rte_mempool* packets = nullptr;

void send(benchmark::State& state, tg::StreamPattern pattern, tg::UdpChecksum checksum) {
  tg::StreamConfig s;
  s.name = s.device = "null";
  s.rate =
      tg::StreamRate{tg::StreamRate::Unit::kPackets, 1'000'000'000};  // always late: full batches
  s.pattern = pattern;
  s.source = "10.0.0.1";
  s.destination = "10.1.0.1";
  s.udp_checksum = checksum;
  s.flows = static_cast<std::uint32_t>(state.range(0));
  s.source_addresses = 32;
  tg::StreamEngine engine({.streams = {s}, .devices = {{"null"}}}, *packets);
  const TscClock clock;
  std::uint64_t sent = 0;
  for (auto _ : state) {
    const std::uint64_t ticks = rte_rdtsc();
    sent += engine.send(*devices, {clock.time_of(ticks), ticks});
  }
  engine.finish();
  state.counters["packets"] =
      benchmark::Counter(static_cast<double>(sent), benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(send, constant, tg::StreamPattern::kConstant, tg::UdpChecksum::kZero)
    ->ArgName("flows")
    ->Arg(1)
    ->Arg(1000)
    ->Arg(1'000'000);
BENCHMARK_CAPTURE(send, constant_checksum, tg::StreamPattern::kConstant, tg::UdpChecksum::kFull)
    ->ArgName("flows")
    ->Arg(1000);
BENCHMARK_CAPTURE(send, poisson, tg::StreamPattern::kPoisson, tg::UdpChecksum::kZero)
    ->ArgName("flows")
    ->Arg(1000);

}  // namespace
}  // namespace outrider

int main(int argc, char** argv) {
  using namespace outrider;
  benchmark::Initialize(&argc, argv);
  const TestEal eal;
  const auto pool = make_packet_pool({.name = "bench", .mbufs = 8191});
  packets = pool.get();
  PollDevices null({{.name = "null", .device = "net_null0"}}, *pool);
  devices = &null;
  benchmark::RunSpecifiedBenchmarks();
}
