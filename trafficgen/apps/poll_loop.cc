#include "trafficgen/apps/poll_loop.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "common/dpdk/eal/control_thread.h"
#include "common/dpdk/eal/lcores.h"
#include "trafficgen/apps/run_control.h"
#include "trafficgen/apps/run_progress.h"

namespace outrider::tg {
namespace {

/// Runs streams and hosts on the same devices. Both stamps of a packet are the times of polls.
class HostsAndStreams {
 public:
  HostsAndStreams(HostLane& hosts, StreamEngine& streams, const PollDevices& devices,
                  const TscClock& clock) noexcept
      : hosts_(hosts), streams_(streams), devices_(devices), clock_(clock) {}

  void begin_poll(const PollInstant& at) noexcept {
    ticks_ = clock_.tsc_of(at.now);
    streams_.send(devices_, {at.now, ticks_});
    hosts_.begin_poll(at);
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
  HostLane& hosts_;
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

TrafficLive live_of(const HostLane& lane, const StreamEngine* streams,
                    const PollResult& so_far) noexcept {
  TrafficLive live = lane.live(so_far.end);
  live.longest_poll_gap_ns = so_far.times.longest_gap.count();
  if (streams != nullptr) streams->add_to(live);
  return live;
}

void add_streams(GeneratorReport& report, const StreamEngine& streams) {
  report.streams = streams.report();
  for (const auto& s : report.streams.streams) report.sent += s.sent;
  report.received += report.streams.ends.arrived;
  report.consumed += report.streams.ends.taken;
  report.ledger_balanced &= balanced(report.streams);
}

/// Runs one lane on its lcore until the run is over.
/// @param streams  nullptr: the lane has none
PollResult run_lane(HostLane& lane, std::uint32_t lcore, const TscClock& clock,
                    PollDevices& devices, const RunRules& rules, StreamEngine* streams,
                    StreamSteering& steering, RunProgress& progress, RunParts& parts) {
  Generator& generator = lane.generator();
  const bool until_finished = !rules.duration;
  const auto done = [&, told = false]() mutable {
    if (until_finished && !told && generator.finished()) {
      told = true;
      progress.lcore_finished();
    }
    return progress.over();
  };
  const auto publish = [&](const PollResult& so_far) {
    progress.publish(lcore, live_of(lane, streams, so_far));
    generator.publish(parts);
    if (streams != nullptr) steering.look(lcore, *streams, so_far.end);
  };
  lane.devices().hold_when_full();
  if (streams == nullptr)
    return run_poll_loop(lane.devices(), lane.loop(), lane, clock, rules.duration, done, publish);
  HostsAndStreams sink(lane, *streams, devices, clock);
  const PollResult result =
      run_poll_loop(lane.devices(), lane.loop(), sink, clock, rules.duration, done, publish);
  streams->finish();
  return result;
}

/// Runs every lane on its lcore. Control threads read meanwhile what the lanes publish.
std::vector<PollResult> run_lanes(const HostLanes& lanes, PollDevices& devices,
                                  const RunRules& rules, StreamEngine* streams,
                                  StreamSteering& steering, RunStallWatch& watch) {
  const auto lcores = static_cast<std::uint32_t>(lanes.size());
  RunProgress progress(lcores);
  RunParts parts;
  if (rules.control.telemetry.prometheus)
    for (const auto& lane : lanes) lane->generator().name(parts);
  RunControl control(rules.control, progress, steering, devices, parts);
  std::optional<ControlThread> stall;
  if (rules.stall)
    stall.emplace("stall", std::chrono::milliseconds(100), [&] {
      watch.note(progress.counts(), devices);
      if (watch.stalled()) progress.end();
    });
  const TscClock clock;
  for (const auto& lane : lanes) lane->generator().start(Time{}, wall_clock_ns());
  std::vector<PollResult> results(lcores);
  run_on_lcores(lcores, [&](std::uint32_t lcore) {
    HostLane& lane = *lanes[lcore];
    StreamEngine* own_streams = lcore == 0 ? streams : nullptr;
    results[lcore] =
        run_lane(lane, lcore, clock, devices, rules, own_streams, steering, progress, parts);
    progress.publish(lcore, live_of(lane, own_streams, results[lcore]));
    lane.generator().publish(parts);
  });
  steering.detach();
  for (const auto& lane : lanes) lane->finish(std::ranges::max(results, {}, &PollResult::end).end);
  control.finish();
  return results;
}

/// Returns what the loops of all lcores make of a run.
PollResult all_of(const std::vector<PollResult>& results, std::vector<PollGap>& gaps) {
  PollResult all;
  for (const PollResult& one : results) {
    all.end = std::max(all.end, one.end);
    all.times.longest_gap = std::max(all.times.longest_gap, one.times.longest_gap);
    all.interrupted |= one.interrupted;
    gaps.insert(gaps.end(), one.gaps.kept().begin(), one.gaps.kept().end());
  }
  return all;
}

GeneratorReport report_of(const HostLanes& lanes, const PollDevices& devices,
                          const StreamEngine* streams, Time end) {
  std::vector<const Generator*> generators;
  for (const auto& lane : lanes) generators.push_back(&lane->generator());
  GeneratorReport report = Generator::report(generators, end);
  if (streams != nullptr) add_streams(report, *streams);
  for (const auto& lane : lanes) lane->add_to(report);
  const DeviceLosses losses = devices.losses();
  report.drops[DropReason::kDeviceTxError] += losses.tx_failed;
  losses.put_into(report);
  return report;
}

}  // namespace

GeneratorRun run_generator(const HostLanes& lanes, PollDevices& devices, const RunRules& rules,
                           StreamEngine* streams, StreamSteering& steering) {
  RunStallWatch watch(rules.stall, devices.size());
  const std::vector<PollResult> results =
      run_lanes(lanes, devices, rules, streams, steering, watch);
  std::vector<PollGap> gaps;
  const PollResult all = all_of(results, gaps);
  GeneratorRun run{.report = report_of(lanes, devices, streams, all.end),
                   .interrupted = all.interrupted};
  run.stall = watch.stall(devices);
  run.report.longest_poll_gap_ns = all.times.longest_gap.count();
  run.report.poll_gaps = merged(std::move(gaps));
  return run;
}

}  // namespace outrider::tg
