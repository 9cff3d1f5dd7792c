#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/core/flow_key.h"
#include "common/core/flow_table.h"
#include "common/regulation/regulation_policy.h"

namespace outrider {

/// The request of one job to a queue.
struct JobWish {
  std::uint16_t threshold_packets = 0;  ///< lowest of its entries, > 0
  std::uint64_t bytes = 0;              ///< announced by its entries; 0: some announced no length
};

/// Returns the threshold of a queue that several jobs hold regulated. It is the job's own if
/// there is only one, or if all jobs request the same under kMin or kDemand.
///
/// * kMin: the lowest, min(h_i).
/// * kHarmonic: 1 / sum(1 / h_i), rounded to the nearest, at least 1. Every job gets its
///   share of the room that it requested, so bursts that coincide find no more packets queued
///   before them than the strictest job requested: at most min(h_i), at least min(h_i) / n.
/// * kDemand: sum(b_i) / sum(b_i / h_i), rounded to the nearest: the harmonic mean weighted
///   by announced bytes b_i, so that a small burst does not decide for a large one. The
///   result is between min(h_i) and max(h_i). A job that did not announce its length counts
///   with the mean of those that did; if none did, all count alike.
///
/// Source: the PCN paper (Kang et al., Sensors 2021, 5.3) leaves it to future work; the
/// formulas are this project's.
/// @pre !wishes.empty()
[[nodiscard]] std::uint16_t compose(Composition composition,
                                    std::span<const JobWish> wishes) noexcept;

/// Combines the requests of entries (of workers, say) into one per job. Allocates only at
/// construction. Not thread-safe.
class JobWishes {
 public:
  /// An entry counts with this many bytes at most, so that no sum over entries overflows.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;
  static constexpr std::uint32_t kMaxEntries = 1U << 20;

  /// @param max_entries entries that are added between two calls of take() at most, > 0
  explicit JobWishes(std::uint32_t max_entries);

  /// @param job of the entry. @param bytes announced; nothing: not announced
  void add(const FlowKey& job, std::uint16_t threshold_packets,
           std::optional<std::uint64_t> bytes) noexcept;
  /// Returns the composed threshold and empties the object. @pre add() was called
  [[nodiscard]] std::uint16_t take(Composition composition) noexcept;

 private:
  FlowTable<std::uint32_t> index_;  ///< job -> its position in the vectors
  std::vector<FlowKey> jobs_;
  std::vector<JobWish> wishes_;
  std::vector<std::uint8_t> silent_;  ///< 1: an entry of the job did not announce its bytes
};

}  // namespace outrider
