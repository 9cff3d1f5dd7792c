#include "trafficgen/streams/engine/benchmark_config.h"

#include <string>

#include "trafficgen/streams/engine/stream_config.h"

namespace outrider::tg {
namespace {

constexpr std::uint32_t kMostRepeats = 1000;
constexpr std::uint32_t kMostPackets = 1U << 24;
constexpr std::size_t kMostShares = 100;

bool has_shares(BenchmarkKind kind) {
  return kind == BenchmarkKind::kAccuracy || kind == BenchmarkKind::kLatency ||
         kind == BenchmarkKind::kLossRate;
}

}  // namespace

void describe(Settings& v, EcnLawConfig& c) {
  v.value("kmin_packets", c.kmin_packets,
          {.range = reals(0, kMostPackets), .help = "with fewer waiting nothing is marked"});
  v.value("kmax_packets", c.kmax_packets,
          {.range = reals(0, kMostPackets),
           .accepts = "at least `kmin_packets`; equal: a step",
           .help = "from that many on all are marked"});
  v.share("pmax", c.pmax, {.range = reals_above(0, 1), .help = "just below `kmax_packets`"});
  v.choice("mark_at", c.mark_at, kEcnMarkPoints,
           {.help = "a packet counts those before it in the queue, or those behind it"});
  v.value("packets", c.packets,
          {.range = integers(1, kMostPackets), .help = "that the stopped queue gets"});
  v.value("priority", c.priority,
          {.range = integers(0, 7), .help = "of the pause frames that stop the queue"});
}

void describe(Settings& v, BenchmarkConfig& c) {
  v.choice("kind", c.kind, kBenchmarkKinds, {.help = "see [benchmarks](streams.md#benchmarks)"});
  v.value("frame_bytes", c.frame_bytes,
          {.range = integers(kMinStreamFrameBytes, kMaxStreamFrameBytes),
           .absent = "as the streams have them",
           .help = "all is measured with each size, FCS included"});
  v.duration("trial", c.trial, {.range = durations_above_zero()});
  v.duration("warm_up", c.warm_up,
             {.range = durations_from(Duration::zero()), .help = "first, at half the rates"});
  v.share("width", c.width,
          {.range = reals_above(0, 0.5),
           .help = "a search ends when it knows the answer to this share of the rates"});
  v.value("repeats", c.repeats, {.range = integers(1, kMostRepeats)});
  v.share("shares", c.shares,
          {.range = reals_above(0, 1),
           .absent = "none",
           .help = "of the rates, of `latency`: of the throughput; required by `accuracy`, "
                   "`latency` and `loss_rate`"});
  v.value("max_packets", c.max_packets,
          {.range = integers(2, kMostPackets), .help = "longest burst of a stream that is tried"});
  v.table("ecn", c.ecn);
}

void check(const Checks& at, const BenchmarkConfig& benchmark) {
  if (benchmark.kind == BenchmarkKind::kNone) return;
  if (has_shares(benchmark.kind))
    at.require(!benchmark.shares.empty() && benchmark.shares.size() <= kMostShares, "shares",
               std::to_string(benchmark.shares.size()) + " shares",
               "there must be 1 to " + std::to_string(kMostShares));
  else if (!benchmark.shares.empty()) at.fault("shares", "means nothing for this kind");
  at.below("ecn").require(benchmark.ecn.kmin_packets <= benchmark.ecn.kmax_packets, "kmin_packets",
                          std::to_string(benchmark.ecn.kmin_packets),
                          "must be at most kmax_packets");
}

}  // namespace outrider::tg
