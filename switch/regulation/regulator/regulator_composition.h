#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/flow_key.h"
#include "common/core/flow_table.h"
#include "switch/regulation/policy/regulation_policy.h"
#include "switch/regulation/regulator/mergeable_heaps.h"

namespace outrider {

/// Composes the threshold of a queue from the requests of the entries (of workers, say) that
/// regulate it. The entries of a job are one request: their lowest threshold h_i and the sum of
/// their bytes b_i. The result is the job's own threshold if there is only one job, or if all
/// jobs request the same under kMin or kDemand.
///
/// * kMin: the lowest, min(h_i).
/// * kHarmonic: 1 / sum(1 / h_i), rounded to the nearest, at least 1. Every job gets its
///   share of the room that it requested, so bursts that coincide find no more packets queued
///   before them than the strictest job requested: at most min(h_i), at least min(h_i) / n.
/// * kDemand: sum(b_i) / sum(b_i / h_i), rounded to the nearest: the harmonic mean weighted
///   by announced bytes b_i, so that a small burst does not decide for a large one. The
///   result is between min(h_i) and max(h_i). A job with an entry that did not announce its
///   length counts with the mean of those that did; if none did, all count alike.
///
/// The sums are kept in fixed point, so that what an entry added is taken away exactly, however
/// many come and go. Their error is below one part in 2^48. A result half-way between two
/// packets is rounded up.
///
/// add() and remove() take O(log n) steps for n entries of the job, composed() takes O(1).
/// Allocates only at construction. Not thread-safe.
///
/// Source: the PCN paper (Kang et al., Sensors 2021, 5.3) leaves it to future work; the
/// formulas are this project's.
class JobWishes {
 public:
  /// An entry counts with this many bytes at most, so that no sum over entries overflows.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;
  static constexpr std::uint32_t kMaxEntries = 1U << 20;

  /// @param max_entries at once, in [1, kMaxEntries]
  JobWishes(Composition composition, std::uint32_t max_entries);

  /// Adds an entry. @param slot identifies it, < max_entries. @param job of the entry.
  /// @param threshold_packets > 0. @param bytes announced, > 0; nothing: not announced
  void add(std::uint32_t slot, const FlowKey& job, std::uint16_t threshold_packets,
           std::optional<std::uint64_t> bytes) noexcept;
  /// @pre the slot was added
  void remove(std::uint32_t slot) noexcept;
  [[nodiscard]] bool empty() const noexcept { return entries_ == 0; }
  /// Returns the composed threshold. @pre !empty()
  [[nodiscard]] std::uint16_t composed() const noexcept;

  /// Returns the steps taken so far: for tests of what an operation costs.
  [[nodiscard]] std::uint64_t steps() const noexcept { return thresholds_.steps(); }
  /// Memory of an entry.
  static std::size_t bytes_per_entry() noexcept;

 private:
  __extension__ using Fixed = unsigned __int128;  ///< in units of 2^-64
  struct Wish {
    std::uint32_t job = 0;
    std::uint64_t bytes = 0;  ///< 0: not announced
  };
  struct Job {
    FlowKey key{};
    MergeableHeaps<std::uint16_t>::Heap thresholds{};
    std::uint32_t entries = 0;
    std::uint32_t silent = 0;  ///< entries that did not announce their bytes
    std::uint64_t bytes = 0;
    Fixed quotient{};  ///< what it added to its Sum: weight / lowest threshold
  };
  struct Sum {
    std::uint64_t jobs = 0;
    std::uint64_t weight = 0;
    Fixed quotients{};
  };

  [[nodiscard]] std::uint32_t open(const FlowKey& job) noexcept;
  /// Returns 1 for a job whose bytes count for nothing or are not known.
  [[nodiscard]] std::uint64_t weight_of(const Job& job) const noexcept {
    return weighs(job) ? job.bytes : 1;
  }
  [[nodiscard]] bool weighs(const Job& job) const noexcept {
    return composition_ == Composition::kDemand && job.silent == 0;
  }
  void take_out(const Job& job) noexcept;
  void put_in(Job& job) noexcept;

  Composition composition_;
  std::uint32_t entries_ = 0;
  FlowTable<std::uint32_t> index_;  ///< job -> its position in jobs_
  std::vector<Job> jobs_;
  std::vector<std::uint32_t> free_jobs_;
  std::vector<Wish> wishes_;  ///< by slot
  MergeableHeaps<std::uint16_t> thresholds_;
  Sum known_;   ///< of jobs whose bytes count
  Sum silent_;  ///< of all others
};

}  // namespace outrider
