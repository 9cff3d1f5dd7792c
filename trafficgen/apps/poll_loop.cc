#include "trafficgen/apps/poll_loop.h"

#include <algorithm>
#include <chrono>

#include "trafficgen/apps/stall_watch.h"

namespace outrider::tg {
namespace {

/// Runs streams and hosts on the same devices. Both stamps of a packet are the times of polls.
class HostsAndStreams {
 public:
  HostsAndStreams(Generator& hosts, StreamEngine& streams, const PollDevices& devices,
                  const TscClock& clock) noexcept
      : hosts_(hosts), streams_(streams), devices_(devices), clock_(clock) {}

  void begin_poll(Time now) noexcept {
    ticks_ = clock_.tsc_of(now);
    streams_.send(devices_, {now, ticks_});
  }
  void expect(std::uint32_t device, std::span<Packet* const> packets) noexcept {
    hosts_.expect(device, packets);
  }
  void receive_from_device(std::uint32_t device, Packet* packet, Time now) noexcept {
    if (!StreamReceiver::is_stamped(buffer(*packet)))
      return hosts_.receive_from_device(device, packet, now);
    streams_.receive(*packet, ticks_);
    release(packet);
  }

 private:
  Generator& hosts_;
  StreamEngine& streams_;
  const PollDevices& devices_;
  const TscClock& clock_;
  std::uint64_t ticks_ = 0;
};

std::uint64_t wall_clock_ns() noexcept {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count());
}

/// Adds packets that never reached a host or never left, as in the report.
template <class Counts>
void add_devices(Counts& counts, const PollDevices& devices) noexcept {
  for (const std::uint64_t dropped : devices.tx_dropped().values)
    counts.drops[DropReason::kDeviceTxFull] += dropped;
  counts.drops[DropReason::kMalformed] += devices.malformed();
  counts.received += devices.malformed();
}

TrafficLive live_of(const Generator& generator, const PollDevices& devices,
                    const StreamEngine* streams, Time now) noexcept {
  TrafficLive live = generator.live(now);
  if (streams != nullptr) streams->add_to(live);
  add_devices(live, devices);
  return live;
}

void add_streams(GeneratorReport& report, const StreamEngine& streams) {
  report.streams = streams.report();
  for (const auto& s : report.streams.streams) report.sent += s.sent;
  report.received += report.streams.ends.arrived;
  report.consumed += report.streams.ends.taken;
  report.ledger_balanced &= balanced(report.streams);
}

}  // namespace

std::vector<std::unique_ptr<Link>> connect_devices(Generator& generator, EventLoop& loop,
                                                   PollDevices& devices) {
  const GeneratorConfig& config = generator.config();
  std::vector<std::unique_ptr<Link>> wires;
  devices.hold_when_full();
  for (std::uint32_t h = 0; h < config.hosts.size(); ++h) {
    const auto device =
        std::ranges::find(config.devices, config.hosts[h].device, &GeneratorDeviceConfig::name);
    const auto index = static_cast<std::uint32_t>(device - config.devices.begin());
    wires.push_back(
        std::make_unique<Link>(loop, Duration{}, generator.egress(index, devices.edge(index)), 0));
    generator.connect(h, *wires.back(), &devices.edge(index).backpressure());
  }
  return wires;
}

GeneratorRun run_generator(Generator& generator, EventLoop& loop, PollDevices& devices,
                           std::optional<Duration> duration, StreamEngine* streams,
                           TrafficLiveReport* live, std::optional<Duration> stall) {
  StallWatch watch(stall);
  const bool until_finished =
      !duration && (!generator.config().jobs.empty() || !generator.config().transfers.empty());
  const auto done = [&] { return (until_finished && generator.finished()) || watch.stalled(); };
  const auto publish = [&](const PollResult& so_far) {
    if (live == nullptr && !stall) return;
    const TrafficLive now = live_of(generator, devices, streams, so_far.end);
    watch.note(now.sent, now.received, so_far.end);
    if (live != nullptr) live->publish(now);
  };
  const TscClock clock;
  generator.start(Time{}, wall_clock_ns());
  PollResult result;
  if (streams != nullptr) {
    HostsAndStreams sink(generator, *streams, devices, clock);
    result = run_poll_loop(devices, loop, sink, clock, duration, done, publish);
    streams->finish();
  } else {
    result = run_poll_loop(devices, loop, generator, clock, duration, done, publish);
  }
  if (live != nullptr) live->finish(live_of(generator, devices, streams, result.end));
  GeneratorRun run{.report = generator.report(result.end), .interrupted = result.interrupted};
  if (watch.stalled()) run.unanswered = watch.unanswered();
  if (streams != nullptr) add_streams(run.report, *streams);
  add_devices(run.report, devices);
  const PortLosses losses = devices.losses();
  run.report.drops[DropReason::kDeviceTxError] += losses.tx_failed;
  run.report.device_rx_missed = losses.rx_missed;
  run.report.device_rx_nombuf = losses.rx_nombuf;
  run.report.longest_poll_gap_ns = result.times.longest_gap.count();
  run.report.poll_gaps = merged({result.gaps.kept().begin(), result.gaps.kept().end()});
  return run;
}

}  // namespace outrider::tg
