#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"

namespace outrider::tg {

/// What the command `benchmark` measures with the streams of a file.
enum class BenchmarkKind : std::uint8_t {
  kNone,
  kAccuracy,    ///< of the generator itself: rate, gaps and lateness of what it sends
  kThroughput,  ///< highest rate without loss (RFC 2544, section 26.1)
  kLatency,     ///< at shares of the throughput (section 26.2)
  kLossRate,    ///< at shares of the rates (section 26.3)
  kBackToBack,  ///< longest burst without loss (section 26.4)
  kEcnMarking,  ///< share of marked packets against the length of the queue
};

/// Where a queue decides about a mark.
enum class EcnMarkPoint : std::uint8_t { kEnqueue, kDequeue };

/// The law that a queue's marks are to follow: none below Kmin, all from Kmax on, and between both
/// a probability that rises from 0 to `pmax`.
struct EcnLawConfig {
  double kmin_packets = 500;
  double kmax_packets = 2000;  ///< >= kmin_packets; equal: a step
  double pmax = 0.05;          ///< (0, 1]
  EcnMarkPoint mark_at = EcnMarkPoint::kEnqueue;
  std::uint32_t packets = 2010;  ///< that the stopped queue gets before it is let go
  std::uint8_t priority = 3;     ///< of the pause frames that stop it
};

/// The table [benchmark].
struct BenchmarkConfig {
  BenchmarkKind kind = BenchmarkKind::kNone;
  std::vector<std::uint32_t> frame_bytes{};  ///< FCS included; empty: as the streams have them
  Duration trial = std::chrono::seconds(1);
  Duration warm_up = std::chrono::milliseconds(200);  ///< once, at half the rates
  double width = 0.01;                                ///< of a search, share of the rates
  std::uint32_t repeats = 1;                          ///< of all, each with a value of its own
  std::vector<double> shares{};                       ///< see BenchmarkKind
  std::uint32_t max_packets = 100'000;                ///< kBackToBack: of each stream
  EcnLawConfig ecn{};                                 ///< kEcnMarking
};

inline constexpr auto kBenchmarkKinds =
    choices<BenchmarkKind>({{"none", BenchmarkKind::kNone},
                            {"accuracy", BenchmarkKind::kAccuracy},
                            {"throughput", BenchmarkKind::kThroughput},
                            {"latency", BenchmarkKind::kLatency},
                            {"loss_rate", BenchmarkKind::kLossRate},
                            {"back_to_back", BenchmarkKind::kBackToBack},
                            {"ecn_marking", BenchmarkKind::kEcnMarking}});
inline constexpr auto kEcnMarkPoints = choices<EcnMarkPoint>(
    {{"enqueue", EcnMarkPoint::kEnqueue}, {"dequeue", EcnMarkPoint::kDequeue}});

void describe(Settings& v, EcnLawConfig& c);
void describe(Settings& v, BenchmarkConfig& c);

/// Checks the rules between settings of a benchmark.
void check(const Checks& at, const BenchmarkConfig& benchmark);

}  // namespace outrider::tg
