#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "common/core/clock.h"

namespace outrider::tg {

/// Gives larger batches to workers that R2SP holds for long, so that they compute instead of wait.
/// Worker 0's batch stays. After every tenth hold of another worker, if its last five holds were
/// longer than a tenth of T on average, its batch grows by the samples that it computes in that
/// time. Batches never shrink.
///
/// Source: Chen, Wang, Li, INFOCOM 2019, authors' code (resnet/batchsizemanager.py), where
/// it is commented out. Deviation: batches are whole samples. Not thread-safe; allocates at
/// construction only.
class BatchTuner {
 public:
  static constexpr std::uint64_t kEvery_holds = 10;
  static constexpr std::uint64_t kMean_holds = 5;
  static constexpr double kShareOfPeriod = 0.1;

  /// @param batch samples in every worker's first batch, > 0
  /// @param times [workers]: time to compute a first batch, > 0
  BatchTuner(std::uint32_t batch, const std::vector<Duration>& times)
      : first_batch_(batch), workers_(times.size()) {
    for (std::size_t w = 0; w < times.size(); ++w)
      workers_[w] = {.batch = batch, .sample_seconds = seconds(times[w]) / batch};
  }

  /// @param period T, see RoundRobinGate
  void on_held(std::uint32_t worker, Duration held, Duration period) noexcept {
    if (worker == 0) return;
    Worker& w = workers_[worker];
    w.last[w.holds++ % kMean_holds] = held;
    if (w.holds % kEvery_holds != 0) return;
    Duration sum{};
    for (const Duration h : w.last) sum += h;
    const double mean_seconds = seconds(sum) / kMean_holds;
    if (mean_seconds <= kShareOfPeriod * seconds(period)) return;
    w.batch += static_cast<std::uint32_t>(
        std::min(mean_seconds / w.sample_seconds, static_cast<double>(kMaxGrowth)));
  }

  [[nodiscard]] std::uint32_t batch(std::uint32_t worker) const noexcept {
    return workers_[worker].batch;
  }
  /// Returns the worker's batch as a multiple of its first batch.
  [[nodiscard]] double growth(std::uint32_t worker) const noexcept {
    return static_cast<double>(batch(worker)) / first_batch_;
  }

 private:
  static constexpr std::uint32_t kMaxGrowth = 1U << 20;
  struct Worker {
    std::uint32_t batch = 0;
    double sample_seconds = 0;
    std::uint64_t holds = 0;
    std::array<Duration, kMean_holds> last{};
  };
  std::uint32_t first_batch_;
  std::vector<Worker> workers_;
};

}  // namespace outrider::tg
