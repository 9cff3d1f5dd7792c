#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/core/snapshot_cell.h"
#include "trafficgen/measure/live.h"

namespace outrider::tg {

/// What the lcores of a run tell each other and the control threads. Any thread may call any
/// function, but publish() for an lcore is that lcore's. Lcores never wait.
class RunProgress {
 public:
  explicit RunProgress(std::uint32_t lcores) : unfinished_(lcores) {
    for (std::uint32_t i = 0; i < lcores; ++i) cells_.push_back(std::make_unique<Cell>());
  }

  void publish(std::uint32_t lcore, const TrafficLive& counts) noexcept {
    cells_[lcore]->write(counts);
  }
  /// Returns the sum of what the lcores have published. Not for lcores: it waits for a writer, and
  /// allocates.
  [[nodiscard]] TrafficLive counts() const {
    TrafficLive sum;
    for (const auto& cell : cells_) add(sum, cell->read());
    return sum;
  }

  /// Each lcore calls it once, when its jobs and transfers have ended. Its other traffic goes on
  /// until those of all lcores have.
  void lcore_finished() noexcept { unfinished_.fetch_sub(1, std::memory_order_relaxed); }
  /// Ends the run on all lcores.
  void end() noexcept { ended_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool over() const noexcept {
    return unfinished_.load(std::memory_order_relaxed) == 0 ||
           ended_.load(std::memory_order_relaxed);
  }

 private:
  using Cell = SnapshotCell<TrafficLive>;
  std::vector<std::unique_ptr<Cell>> cells_;  ///< [lcores]
  std::atomic<std::uint32_t> unfinished_;
  std::atomic<bool> ended_{false};
};

}  // namespace outrider::tg
