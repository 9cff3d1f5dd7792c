#include "trafficgen/streams/run/stream_loop.h"

#include <rte_cycles.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/dpdk/tsc_clock.h"
#include "common/runtime/poll_stop.h"

namespace outrider::tg {
namespace {

/// Hands out what it took: a device that costs next to nothing.
struct DirectDevice {
  mutable std::array<Packet*, kBatchPackets> held{};
  mutable std::uint16_t size = 0;

  std::uint16_t tx(Packet** packets, std::uint16_t n) const noexcept {
    std::copy(packets, packets + n, held.begin());
    size = n;
    return n;
  }
  std::uint16_t rx(Packet** out, std::uint16_t) const noexcept {
    std::copy(held.begin(), held.begin() + size, out);
    return std::exchange(size, std::uint16_t{0});
  }
};

struct DirectDevices {
  DirectDevice device;
  [[nodiscard]] const DirectDevice& port(std::size_t) const noexcept { return device; }
};

/// Hands what a device has to the engine.
template <class Device>
void receive(StreamEngine& engine, const Device& device) noexcept {
  std::array<Packet*, kBatchPackets> batch;
  const std::uint16_t n = device.rx(batch.data(), kBatchPackets);
  if (n == 0) return;
  const std::uint64_t ticks = rte_rdtsc();
  for (std::uint16_t i = 0; i < n; ++i) engine.receive(*batch[i], ticks);
  rte_pktmbuf_free_bulk(batch.data(), n);
}

TrafficLive live_of(const StreamEngine& engine, Time now) noexcept {
  TrafficLive live{.at_ns = now.time_since_epoch().count()};
  engine.add_to(live);
  return live;
}

}  // namespace

StreamRun run_streams(StreamEngine& engine, PollDevices& devices, std::optional<Duration> duration,
                      Duration drain, TrafficLiveReport* live) {
  constexpr Duration kLinkCheck = std::chrono::milliseconds(100);
  constexpr std::uint64_t kPollsPerCheck = 256;
  StreamRun run;
  const TscClock clock(rte_get_tsc_hz(), rte_rdtsc());
  const Time until = duration ? Time{} + *duration : Time{};  // without one, senders decide
  Time previous{};
  Time link_check = Time{} + kLinkCheck;
  Time last = kNever;
  while (previous < last) {
    const std::uint64_t ticks = rte_rdtsc();
    const Time now = clock.time_of(ticks);
    run.longest_gap = std::max(run.longest_gap, now - previous);
    previous = now;
    if (last == kNever) [[likely]]
      engine.send(devices, {now, ticks});
    for (const std::size_t d : engine.receive_devices()) receive(engine, devices.port(d));
    if (++run.polls % kPollsPerCheck != 0) [[likely]]
      continue;
    const bool over = engine.done() && now >= until;
    if (last == kNever && (over || stop_requested())) {
      run.interrupted = !over;
      engine.finish();
      last = engine.receive_devices().empty() ? now : now + drain;
    }
    if (now < link_check) continue;
    run.link_down += devices.check_links() ? 0 : 1;
    link_check = now + kLinkCheck;
    if (live != nullptr) live->publish(live_of(engine, now));
  }
  if (live != nullptr) live->finish(live_of(engine, previous));
  run.elapsed = previous - Time{};
  return run;
}

std::uint64_t stamp_ticks_per_second() noexcept { return rte_get_tsc_hz(); }

Histogram measure_loop_bias(rte_mempool& pool) {
  StreamConfig stream;
  stream.name = stream.device = stream.receive_device = "direct";
  stream.rate = StreamRate{StreamRate::Unit::kPackets, 1'000'000};
  stream.source = "10.0.0.1";
  stream.destination = "10.0.0.2";
  stream.packets = 10'000;
  StreamEngine engine(
      {.streams = {stream}, .devices = {{"direct"}}, .ticks_per_second = rte_get_tsc_hz()}, pool);
  const DirectDevices devices{};
  const TscClock clock;
  while (!engine.done()) {
    const std::uint64_t ticks = rte_rdtsc();
    engine.send(devices, {clock.time_of(ticks), ticks});
    receive(engine, devices.device);
  }
  engine.finish();
  return engine.report().streams[0].latency_ns;
}

}  // namespace outrider::tg
