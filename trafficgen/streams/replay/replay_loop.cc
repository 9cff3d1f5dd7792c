#include "trafficgen/streams/replay/replay_loop.h"

#include <algorithm>
#include <array>

#include "common/dpdk/eal/eal.h"
#include "common/dpdk/packet/mempool.h"
#include "common/runtime/poll_loop.h"
#include "common/runtime/poll_program.h"
#include "common/runtime/program_pool.h"
#include "trafficgen/measure/live.h"
#include "trafficgen/streams/engine/sender_report.h"

namespace outrider::tg {
namespace {

constexpr std::uint32_t kMbufs = 4095;  ///< the device's ring of 1024, batches, the pool's cache

std::uint32_t longest_frame(const PcapTrace& trace) {
  return std::ranges::max(trace.packets, {}, &PcapTrace::Packet::size).size;
}

/// Frees received packets. Otherwise a device that returns what it was sent would fill up.
std::uint64_t discard(const Port& port) noexcept {
  std::array<Packet*, kBatchPackets> batch;
  const std::uint16_t n = port.rx(batch.data(), kBatchPackets);
  if (n != 0) rte_pktmbuf_free_bulk(batch.data(), n);
  return n;
}

void drive(ReplaySender& sender, const Port& port, ReplayReport& report, TrafficLiveReport* live) {
  const auto live_of = [&sender](Time now) {
    TrafficLive counts;
    counts.at_ns = now.time_since_epoch().count();
    counts.sent = sender.counters().sent;
    counts.sent_bytes = sender.counters().frame_bytes;
    return counts;
  };
  const auto poll = [&](const PollInstant& at) {
    sender.poll(port, {at.now, 0});
    const std::uint64_t found = sender.pending() != 0 ? discard(port) : 0;
    report.discarded += found;
    return found != 0;
  };
  const PollResult result = run_polls(
      TscClock(), {.in_steps = false}, poll, [&sender] { return sender.done(); },
      [&](const PollResult& so_far) {
        if (live != nullptr) live->publish(live_of(so_far.end));
      });
  sender.finish();
  if (live != nullptr) live->finish(live_of(result.end));
  report.interrupted = result.interrupted;
  report.longest_poll_gap_ns = result.times.longest_gap.count();
}

void check_rate(const ReplayConfig& config, const ReplaySchedule& schedule, BitRate line_rate) {
  const double wire = 8 * schedule.packets_per_second() *
                      (schedule.mean_frame_bytes() + kL1OverheadBytes - kFcsBytes);
  if (line_rate.bits_per_second == 0 || !config.rate) return;
  if (wire > static_cast<double>(line_rate.bits_per_second) * (1 + 1e-9))
    throw UsageError("--rate " + format_stream_rate(*config.rate) + ": is beyond the line rate, " +
                     format_rate(line_rate) + " at L1");
}

}  // namespace

ReplayReport run_replay(const ReplayConfig& config, const LoadedReplay& loaded,
                        const ReplayProcess& process, const ProgramOptions& options,
                        std::vector<std::string> eal_extra) {
  const PcapTrace& trace = *loaded.trace;
  ReplayReport report;
  report.frames = trace.packets.size();
  report.padded = trace.padded;
  report.skipped = trace.skipped;
  report.backwards = trace.backwards;
  report.rewrites = loaded.rewrites;
  const ReplaySchedule schedule(config, loaded.trace, process.line_rate);
  check_rate(config, schedule, process.line_rate);
  const std::uint32_t room = std::max(2048U, longest_frame(trace));
  const std::uint32_t plain = (room + 512 + kBytesPerPlainMbuf - 1) / kBytesPerPlainMbuf;
  const std::vector<PortConfig> ports{port_config("replay", process.device, 1024, 1024, options)};
  const Eal eal(eal_options("outrider-trafficgen", {process.lcore}, 2 * kMbufs * plain, ports,
                            std::move(eal_extra)));
  const Mempool pool =
      make_program_pool(eal, {.name = "replay", .mbufs = kMbufs, .frame_room_bytes = room});
  const Mempool receive = make_program_pool(eal, {.name = "received", .mbufs = kMbufs});
  PollDevices devices(ports, *receive);
  if (!wait_for_links(devices, from_seconds(options.wait_for_peer_seconds))) {
    report.interrupted = true;
    return report;
  }
  ReplaySender sender(schedule, ReplayFrames(loaded.trace), config.max_lag, *pool);
  const auto live = live_report<TrafficLive>(options);
  drive(sender, devices.port(0), report, live.get());
  report.sent.name = config.file;
  fill_sent(report.sent, sender, config.layer);
  return report;
}

}  // namespace outrider::tg
