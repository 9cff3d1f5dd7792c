#include "trafficgen/streams/run/stream_loop.h"

#include <rte_cycles.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "common/runtime/poll_loop.h"

namespace outrider::tg {
namespace {

/// A device that returns what it took, at almost no cost.
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

/// Passes the packets that a device has to the engine. @return true if it had any
template <class Device>
bool receive(StreamEngine& engine, const Device& device) noexcept {
  std::array<Packet*, kBatchPackets> batch;
  const std::uint16_t n = device.rx(batch.data(), kBatchPackets);
  if (n == 0) return false;
  const std::uint64_t ticks = rte_rdtsc();
  for (std::uint16_t i = 0; i < n; ++i) engine.receive(*batch[i], ticks);
  rte_pktmbuf_free_bulk(batch.data(), n);
  return true;
}

TrafficLive live_of(const StreamEngine& engine, Time now, Duration longest_gap) noexcept {
  TrafficLive live;
  live.at_ns = now.time_since_epoch().count();
  live.longest_poll_gap_ns = longest_gap.count();
  engine.add_to(live);
  return live;
}

}  // namespace

StreamRun run_streams(StreamEngine& engine, PollDevices& devices, std::optional<Duration> duration,
                      Duration drain, TrafficLiveReport* live) {
  std::vector<std::uint32_t> all(devices.size());
  std::iota(all.begin(), all.end(), 0U);
  TrafficLive last;
  const StreamRun run =
      run_streams(engine, devices, all, duration, drain, [&](const TrafficLive& now) {
        last = now;
        if (live != nullptr) live->publish(now);
      });
  if (live != nullptr) live->finish(last);
  return run;
}

StreamRun run_streams(StreamEngine& engine, PollDevices& devices,
                      std::span<const std::uint32_t> own, std::optional<Duration> duration,
                      Duration drain, const std::function<void(const TrafficLive&)>& publish) {
  constexpr std::uint64_t kPollsPerCheck = 256;
  StreamRun run;
  const TscClock clock;
  const auto receive_all = [&] {
    bool found = false;
    for (const std::size_t d : engine.receive_devices()) found |= receive(engine, devices.port(d));
    ++run.polls;
    return found;
  };
  Time polled{};
  const auto send_and_receive = [&](const PollInstant& at) {
    polled = at.now;
    engine.send(devices, {at.now, at.ticks});
    return receive_all();
  };
  const auto check = [&](const PollResult& so_far) {
    bool all_up = true;
    for (const std::uint32_t device : own) all_up &= devices.check_link(device);
    run.link_down += all_up ? 0 : 1;
    publish(live_of(engine, so_far.end, std::max(run.longest_gap, so_far.times.longest_gap)));
  };
  const Time until = Time{} + duration.value_or(Duration{});  // without a duration, senders decide
  const auto over = [&] {
    return run.polls % kPollsPerCheck == 0 && engine.done(polled) && polled >= until;
  };
  PollResult result = run_polls(clock, {.in_steps = false}, send_and_receive, over, check);
  run.interrupted = result.interrupted;
  run.longest_gap = result.times.longest_gap;
  engine.finish();
  if (!engine.receive_devices().empty()) {
    result = run_polls(
        clock, {.duration = drain, .in_steps = false, .until_stopped = false},
        [&](const PollInstant&) { return receive_all(); }, [] { return false; }, check);
    run.longest_gap = std::max(run.longest_gap, result.times.longest_gap);
  }
  publish(live_of(engine, result.end, run.longest_gap));
  run.elapsed = result.end - Time{};
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
  Time now{};
  const auto poll = [&](const PollInstant& at) {
    now = at.now;
    engine.send(devices, {at.now, at.ticks});
    return receive(engine, devices.device);
  };
  run_polls(
      TscClock(), {.in_steps = false, .until_stopped = false}, poll,
      [&] { return engine.done(now); }, [](const PollResult&) {});
  engine.finish();
  return engine.report().streams[0].latency_ns;
}

}  // namespace outrider::tg
