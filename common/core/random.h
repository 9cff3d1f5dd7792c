#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace outrider {

/// Philox4x32-10: a counter-based generator. The n-th block of a key is a pure function of
/// (key, n), so streams never share state, and a new entity changes no other entity's draws.
///
/// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
/// 1, 2, 3", SC'11; checked against the published vectors.
constexpr std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                                  std::array<std::uint32_t, 2> key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

/// The purpose of a random stream, which is part of its key.
enum class RandomPurpose : std::uint32_t {
  kHostDelay,
  kSendJitter,
  kFlowStart,
  kComputeTime,
  kBurstDue,
  kImpairment,  ///< losses of the switch's `loss` setting; those of tests, and reordering
  kTest,
  kBatchSize,  ///< work of an iteration, shared by a job's workers
  kStraggler,
  kStreamGap,  ///< times between packets of an open-loop stream
  kThinkTime,
  kFlowArrival,  ///< gaps between the flows of a group
  kFlowSize,
  kFlowHosts,     ///< a flow's two ends
  kMarker,        ///< RED and PIE
  kLearnerData,   ///< samples and the rule that labels them
  kLearnerStart,  ///< parameters before the first update
  kLearnerBatch,  ///< samples of a worker's gradient
  kMagnitude,     ///< magnitudes of the gradients in a packet
  kHostPlace,     ///< places of the hosts in a fabric
  kRecordedTime,  ///< computing times from a profile's quantiles
  kStreamPhase,   ///< when an open-loop stream begins
  kFlowletPath,   ///< equal costs that a switch draws for flowlets
};

/// A stream of draws keyed by (seed, entity, purpose): arms of a comparison
/// that share a seed share every draw. Not thread-safe.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint32_t entity, RandomPurpose purpose) noexcept
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        entity_(entity),
        purpose_(static_cast<std::uint32_t>(purpose)) {}

  std::uint32_t next_u32() noexcept {
    if (used_ == block_.size()) refill();
    return block_[used_++];
  }

  /// Uniform in [0, 1), 53 bits.
  double uniform() noexcept {
    const std::uint64_t high = next_u32() >> 5;
    const std::uint64_t low = next_u32() >> 6;
    return static_cast<double>((high << 26) | low) * 0x1.0p-53;
  }

  /// Exponential with the given mean (same unit in and out). @pre mean > 0
  double exponential(double mean) noexcept { return -mean * std::log1p(-uniform()); }

  /// Normal with mean 0, deviation 1. Box and Muller, Ann. Math. Statist. 29 (1958): the
  /// cosine value of the pair.
  double normal() noexcept {
    const double radius = std::sqrt(-2 * std::log1p(-uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  [[gnu::noinline]] void refill() noexcept {
    block_ = philox4x32({static_cast<std::uint32_t>(blocks_),
                         static_cast<std::uint32_t>(blocks_ >> 32), entity_, purpose_},
                        key_);
    ++blocks_;
    used_ = 0;
  }

  std::array<std::uint32_t, 2> key_;
  std::uint32_t entity_;
  std::uint32_t purpose_;
  std::uint64_t blocks_ = 0;
  std::array<std::uint32_t, 4> block_{};
  std::size_t used_ = 4;  ///< == block_.size(): empty
};

}  // namespace outrider
