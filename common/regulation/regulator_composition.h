#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/core/flow_key.h"
#include "common/core/flow_table.h"
#include "common/regulation/regulation_policy.h"

namespace outrider {

/// What one job asks of a queue.
struct JobWish {
  std::uint16_t threshold_packets = 0;  ///< lowest of its entries, > 0
  std::uint64_t bytes = 0;              ///< that its entries announced; 0: some did not say
};

/// The threshold of a queue that several jobs hold regulated. With one job, or none that
/// wants another threshold than the others under kMin and kDemand, it is that job's.
///
/// * kMin: the lowest, min(h_i).
/// * kHarmonic: 1 / sum(1 / h_i), rounded to the nearest, at least 1. Every job gets its
///   share of the room that it asked for, so that bursts which come together find no more
///   before them than the strictest asked for: at most min(h_i), at least min(h_i) / n.
/// * kDemand: sum(b_i) / sum(b_i / h_i), rounded to the nearest: the harmonic mean weighted
///   by announced bytes b_i, so that a small burst's wish does not decide for a large one.
///   Between min(h_i) and max(h_i). A job that did not say how long its burst is counts
///   with the mean of those that did; if none did, all count alike.
///
/// Source: the PCN paper (Kang et al., Sensors 2021, 5.3) leaves it to future work; the
/// formulas are this project's.
/// @pre !wishes.empty()
[[nodiscard]] std::uint16_t compose(Composition composition,
                                    std::span<const JobWish> wishes) noexcept;

/// Gathers the wishes of jobs from those of their entries (workers, say). Allocates at
/// construction alone. Not thread-safe.
class JobWishes {
 public:
  /// @param max_entries > 0, that are added between two calls of take()
  explicit JobWishes(std::uint32_t max_entries);

  /// @param job it belongs to. @param bytes announced; nothing: not said
  void add(const FlowKey& job, std::uint16_t threshold_packets,
           std::optional<std::uint64_t> bytes) noexcept;
  /// What they come to; then it is empty again. @pre something was added
  [[nodiscard]] std::uint16_t take(Composition composition) noexcept;

 private:
  FlowTable<std::uint32_t> index_;  ///< job -> its position in all of these
  std::vector<FlowKey> jobs_;
  std::vector<JobWish> wishes_;
  std::vector<std::uint8_t> silent_;  ///< 1: one of its entries did not say its bytes
};

}  // namespace outrider
